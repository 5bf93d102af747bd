"""The author's side of a bot that connects: takes requests from the arena to the bot.

All connections go outwards, by HTTP long polling, so this works behind routers and proxies. One
thread polls for each table; the calling thread learns when the bot plays no more.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from time import sleep
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import requests

from tournament.bot.client import (
    Busy,
    ConnectionLost,
    HttpConnection,
    ProtocolError,
    ResponseTooLarge,
    TooLate,
)
from tournament.bot.url_bot import HttpBot, StartError
from tournament.text import printable

_ANSWER_LIMIT: Final = 288 * 1024  # more is never read by the runner
_REQUEST_LIMIT: Final = 8 * 1024 * 1024  # of the arena; the longest lists of moves have 800 KiB
_CONNECT_S: Final = 10
_POLL_S: Final = 40  # the arena answers within 25 s
_WAIT_S: Final = 10  # and here within 5 s
_JOIN_S: Final = 60  # a busy machine writes it into its store
_BOT_S: Final = 60  # for a request without a clock
_BACKOFF_S: Final = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15)


class Refused(Exception):
    """The arena refuses this program; the text is a sentence."""


class _Unreachable(Exception):
    """No answer that can be used; try again. The text is a clause."""


class _SessionEnded(_Unreachable):
    """The arena was started again."""


class _Answer(NamedTuple):
    """A whole answer of the arena."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Connector:
    """Connects a bot to an arena until the cup is over. `bots` has one for each table; `say`
    receives what happens, a sentence each."""

    def __init__(
        self, url: str, token: str, bots: list[HttpBot], say: Callable[[str], None]
    ) -> None:
        self._address = self._url = url.rstrip("/")
        self._token = token
        self._bots = bots
        self._say = say
        self._printing = threading.Lock()
        self._session = ""
        self.connected = threading.Event()
        """Whether there is a session."""
        self._http = self.new_http()

    def run(self) -> None:
        """Take requests to the bot until the cup is over; Refused."""
        self._connect()
        for index, bot in enumerate(self._bots):
            threading.Thread(target=_Table(self, index, bot).run, daemon=True).start()
        tries, over = 0, ""
        while not over:
            try:
                told = _object(self.call(self._http, "/connect/wait", b"", _WAIT_S))
                over = str(told["over"])
                if tries:
                    self.say("Connected again.")
                tries = 0
                if told.get("failed") and not over:
                    raise Refused(str(told["failed"]))
            except _SessionEnded:
                self.say("The arena was started again.")
                self._connect()
                tries = 0
            except (_Unreachable, KeyError) as error:
                tries = self._pause(tries, f"Connection lost ({error})")
        self.say(over)

    def say(self, text: str) -> None:
        """Print a sentence; standard error is not made for several threads at once. Names in it
        are those that the arena gave."""
        with self._printing:
            self._say(printable(text))

    def new_http(self) -> requests.Session:
        """A connection to the arena, for one thread; it heeds the environment's proxies."""
        http = requests.Session()
        http.auth = self._authorize  # so that a ~/.netrc does not take its place
        return http

    def _authorize(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request

    def call(
        self,
        http: requests.Session,
        path: str,
        body: bytes,
        seconds: float,
        headers: dict[str, str] | None = None,
    ) -> _Answer:
        """Call the arena. Refused, or _Unreachable if it should be tried again."""
        try:
            with http.post(
                self._url + path,
                data=body,
                headers={"X-Stich-Session": self._session, **(headers or {})},
                timeout=(_CONNECT_S, seconds),
                allow_redirects=False,
                stream=True,
            ) as found:
                answer = _Answer(found.status_code, found.headers, _read(found))
        except requests.RequestException as error:
            raise _Unreachable(_reason(error)) from None
        if answer.status in (200, 204):
            return answer
        detail = _detail(answer)
        if answer.status in (400, 401, 409):
            raise Refused(detail)
        raise _Unreachable(detail)

    def _connect(self) -> None:
        """Begin a session, however long that takes; Refused."""
        self.connected.clear()
        self._url = self._address
        body = json.dumps({"tables": len(self._bots)}).encode()
        tries = 0
        while True:
            try:
                about = _object(self.call(self._http, "/connect", body, _WAIT_S))
                port = about.get("port")
                if isinstance(port, int) and self._url == self._address:
                    self._url = _with_port(self._url, port)  # the gateway's, not that of the pages
                    continue
                self._session = str(about["session"])
                self.say(f"Connected to {about['cup']} as {about['bot']}.")
                self.connected.set()
                return
            except (_Unreachable, KeyError) as error:
                tries = self._pause(tries, f"No connection to {self._url} ({error})")

    def _pause(self, tries: int, why: str) -> int:
        """Wait before the next try, and say now and then why; the number of tries so far."""
        if tries in (0, 4) or tries >= len(_BACKOFF_S):
            self.say(f"{why}; trying again.")
        sleep(_BACKOFF_S[min(tries, len(_BACKOFF_S) - 1)])
        return tries + 1


def ask_ladder(url: str, call: Mapping[str, Any]) -> dict[str, Any]:
    """Join a ladder, or leave it: what its arena answers. Refused."""
    try:
        with requests.post(
            url.rstrip("/") + "/join",
            json=call,
            timeout=(_CONNECT_S, _JOIN_S),
            allow_redirects=False,
            stream=True,
        ) as found:
            answer = _Answer(found.status_code, found.headers, _read(found))
        about = _object(answer)
    except requests.RequestException as error:
        raise Refused(f"{url}: {_reason(error)}; check the address, and try again.") from None
    except _Unreachable:
        fix = "check the address; to a cup, connect with `stich connect`"
        raise Refused(f"{url}: no ladder answers there; {fix}.") from None
    if answer.status != HTTPStatus.OK:
        raise Refused(printable(str(about.get("detail"))[:500]))
    return about


class _Table:
    """Polls for one table: takes a request to the bot, and its answer back."""

    def __init__(self, connector: Connector, index: int, bot: HttpBot) -> None:
        self._connector = connector
        self._index = index
        self._bot = bot
        self._http = connector.new_http()
        self._connection: HttpConnection | None = None
        self._late_in: str | None = None

    def run(self) -> None:
        """Poll until the program ends."""
        answer, about, tries = b"", dict[str, str](), 0
        while True:
            headers = {"X-Stich-Table": str(self._index), **about}
            try:
                found = self._connector.call(self._http, "/connect/poll", answer, _POLL_S, headers)
            except Refused:
                return  # the calling thread learns it too
            except _SessionEnded:
                sleep(_BACKOFF_S[0])
                self._connector.connected.wait()
            except _Unreachable:
                sleep(_BACKOFF_S[min(tries, 4)])
                tries += 1
                continue
            else:
                tries = 0
                if found.status == 200:
                    answer, complete = self._ask(found.headers["X-Stich-Call"], found.body)
                    about = {
                        "X-Stich-Answers": found.headers["X-Stich-Request"],
                        "X-Stich-Complete": str(int(complete)),
                    }
                    continue
            answer, about = b"", {}

    def _ask(self, call: str, body: bytes) -> tuple[bytes, bool]:
        """The bytes that the bot answers, and whether its connection lasted."""
        method, _, path = call.partition(" ")
        asked = json.loads(body) if body else {}
        match, clock = asked.get("match"), asked.get("clock")
        seconds = (clock["move_ms"] + clock["bank_ms"]) / 1000 if clock else _BOT_S
        received, complete = b"", True
        try:
            connection = self._connect(match)
            try:
                reply = connection.exchange(method, path, body, seconds)
            finally:
                received = connection.received[:_ANSWER_LIMIT]
            if path == "/move" and reply.status != HTTPStatus.OK:
                status = f"The bot answered {call} with status {reply.status}, not 200."
                self._connector.say(status + self._last_line())
        except (ResponseTooLarge, ProtocolError):
            pass  # the runner sees the same
        except Busy as error:  # here too
            self._connector.say(f"The bot did not answer {call}: {error}")
        except TooLate:
            self._late_in, complete = match, False
            self._connector.say(f"Too late: the runner does not wait for {call} any more.")
        except (StartError, ConnectionLost) as error:
            self._connection, complete = None, False
            self._connector.say(f"The bot did not answer {call}: {error}{self._last_line()}")
        return received, complete

    def _last_line(self) -> str:
        """The last line that the bot has written, as a sentence; its output stays here."""
        lines = self._bot.output().strip().splitlines()
        return f" Its last line: {printable(lines[-1][:200])}" if lines else ""

    def _connect(self, match: str | None) -> HttpConnection:
        """The connection to the bot, which is started again in the match after it was late."""
        if self._late_in is not None and self._late_in != match:
            self._late_in = None
            self._connection = None  # it leads to the process that is ended now
            self._bot.restart()
        if self._connection is None:
            if not self._bot.running:
                self._bot.restart()
            self._connection = self._bot.reconnect()
        return self._connection


def _read(answer: requests.Response) -> bytes:
    """The body of an answer; _Unreachable if it is larger than those of an arena."""
    body = bytearray()
    for piece in answer.iter_content(64 * 1024):
        body += piece
        if len(body) > _REQUEST_LIMIT:
            raise _Unreachable("its answer is larger than that of an arena")
    return bytes(body)


def _object(answer: _Answer) -> dict[str, Any]:
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise _Unreachable("the answer is not that of an arena")
    return found


def _detail(answer: _Answer) -> str:
    """What the arena says is wrong."""
    if answer.status == 410:
        raise _SessionEnded
    try:
        detail = str(json.loads(answer.body)["detail"])
    except (ValueError, RecursionError, KeyError, TypeError):
        hint = "; if it uses TLS, write https://" if answer.status == 400 else ""
        return f"it answers with status {answer.status}{hint}"
    return printable(detail[:500])


def _reason(error: requests.RequestException) -> str:
    """A short clause for what requests says at length."""
    if isinstance(error, requests.exceptions.SSLError):
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            return "its certificate is not accepted"
        return "it does not speak TLS there; perhaps its address begins with http://"
    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy does not connect"
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    return "it does not answer"


def _with_port(url: str, port: int) -> str:
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return parts._replace(netloc=f"{host}:{port}").geturl()
