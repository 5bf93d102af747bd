"""The author's side of a connecting bot: a thread reads an arena's requests, each table has a
thread that asks the bot, and a thread keeps receipts of the run."""

import logging
import os
import re
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from queue import SimpleQueue
from time import monotonic, sleep
from typing import Final
from urllib.parse import urlsplit

import msgspec
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection, connect

from tournament.bot.client import Busy, ConnectionLost, ProtocolError, ResponseTooLarge, TooLate
from tournament.bot.url_bot import HttpBot, StartError
from tournament.store.chain import keep_receipt, receipts_path
from tournament.store.engine import StoreError
from tournament.text import printable
from web.gateway.calls import (
    ALIVE_S,
    ANSWER_LIMIT,
    CHALLENGE,
    CONNECT_S,
    REQUEST_LIMIT,
    Asked,
    EntryRefused,
    Request,
    ask_digest,
    gateway_port,
    reason,
    refusal,
)

_PORT: Final = re.compile(r":\d+$")
_QUIET: Final = logging.Logger("websockets", logging.CRITICAL)  # `say` gets errors instead
_RECEIPT_PERIOD_S: Final = 60
_BACKOFF_S: Final = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15)  # the last one is repeated


class Unreachable(Exception):
    """There is no connection to the arena, but the program may try again. The message is a clause
    that says why."""


@dataclass(frozen=True, slots=True)
class _Request:
    number: int
    call: str
    body: bytes
    match: str
    deadline: float  # by `time.monotonic`


class Connector:
    """Connects a bot to the arena at `url` until the cup is over or the bot no longer plays.

    `bots` holds an instance of the bot for each table. `challenged` starts another instance when
    the first challenge arrives, or is None if the bot takes no challenges. `say` is called with
    messages for the author.
    """

    def __init__(
        self,
        url: str,
        token: str,
        bots: list[HttpBot],
        say: Callable[[str], None],
        challenged: Callable[[], HttpBot] | None = None,
    ) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}", "X-Stich-Tables": str(len(bots))}
        if challenged is not None:
            self._headers["X-Stich-Challenges"] = "1"
        self._say = say
        self._receipts = _ReceiptKeeper(self._url, token, self.say)
        self._printing = threading.Lock()
        self._tables = [_ConnectedTable(self, bot) for bot in bots]
        self._challenge_table = challenged and _ConnectedTable(self, challenged)
        self._link: ClientConnection | None = None
        self._asked = set[int]()  # the numbers of requests that are at a table

    def run(self) -> None:
        """Pass requests to the bot, reconnect whenever the connection is lost, and keep receipts of
        the run in a file, until the cup is over or the bot no longer plays.

        Raises:
            EntryRefused: if the arena refuses the token, or ends the session with a refusal.
        """
        for table in (*self._tables, self._challenge_table):
            if table is not None:
                threading.Thread(target=table.run, daemon=True).start()
        tries, again = 0, False
        while True:
            problem = f"No connection to {self._url}"
            try:
                with open_link(self._url, "/connect", self._headers) as self._link:
                    for message in self._link:
                        if isinstance(message, bytes):
                            self._take(message)
                            continue
                        notice = msgspec.json.decode(message, type=dict[str, str])
                        if "refused" in notice:
                            raise EntryRefused(printable(notice["refused"]))
                        if "over" in notice:
                            self._receipts.end()
                            return self.say(notice["over"])
                        self._receipts.begin(notice["cup"], notice["bot"])
                        hello = f"Connected to {notice['cup']} as {notice['bot']}."
                        self.say("Connected again." if again else hello)
                        tries, again, problem = 0, True, "Connection lost"
                why = "the arena has closed it"
            except Unreachable as error:
                why = str(error)
            except ConnectionClosed as error:
                too_large = error.sent is not None and error.sent.code == 1009
                answer = "its answer is larger than that of an arena"
                why = answer if too_large else "it does not answer"
            except (msgspec.DecodeError, LookupError):
                why = "the answer is not that of an arena"
            if tries in (0, 4) or tries >= len(_BACKOFF_S):
                self.say(f"{problem} ({why}); trying again.")
            sleep(_BACKOFF_S[min(tries, len(_BACKOFF_S) - 1)])
            tries += 1

    def say(self, text: str) -> None:
        """Make a sentence printable and pass it to the author. Threads take turns."""
        with self._printing:
            self._say(printable(text))

    def answer(self, number: int, data: bytes, complete: bool) -> None:
        """Send the answer to the request with this number. `complete` is False if the bot was late,
        did not answer or broke its connection. Then `data` is what arrived. If the arena's
        connection is lost, send nothing, because the arena then asks again."""
        self._asked.discard(number)
        if self._link is not None:
            with suppress(ConnectionClosed):
                self._link.send(msgspec.msgpack.encode((number, data, complete)))

    def _take(self, message: bytes) -> None:
        """Queue a request at the table of its match, because the bot there may keep notes. A new
        match gets the least recently used table. Challenges have a separate table. Ignore requests
        that are at a table already, and challenges if the bot takes none.

        Raises:
            msgspec.DecodeError: if the message is not a request.
        """
        number, call, body = msgspec.msgpack.decode(message, type=Request)
        if number in self._asked:
            return
        asked, now = msgspec.json.decode(body or b"{}", type=Asked), monotonic()
        if call.startswith(CHALLENGE):
            call = call.removeprefix(CHALLENGE)
            if self._challenge_table is None:
                return
            table = self._challenge_table
        else:
            table = min(self._tables, key=lambda at: (at.match != asked.match, at.asked_at))
        table.match, table.asked_at = asked.match, now
        self._asked.add(number)
        table.queue.put(_Request(number, call, body, asked.match, now + asked.seconds))


def open_link(
    url: str, path: str, headers: Mapping[str, str], *, asks_for_port: bool = True
) -> ClientConnection:
    """Open a WebSocket to a path on an arena's gateway, for the caller to close. `url` must not end
    with a slash. If another server answers there and `asks_for_port` is true, ask that server for
    the gateway's port, and connect to that port instead.

    Raises:
        EntryRefused: if the gateway refuses the program, for instance because of its token.
        Unreachable: if no connection can be opened.
    """
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    authorities = os.environ.get("REQUESTS_CA_BUNDLE", DEFAULT_CA_BUNDLE_PATH)
    is_folder = os.path.isdir(authorities)  # as `requests` allows
    file, folder = (None, authorities) if is_folder else (authorities, None)
    try:
        return connect(
            parts._replace(scheme="wss" if secure else "ws").geturl() + path,
            additional_headers=headers,
            ssl=ssl.create_default_context(cafile=file, capath=folder) if secure else None,
            open_timeout=CONNECT_S,
            close_timeout=1,
            ping_interval=ALIVE_S,
            ping_timeout=ALIVE_S,
            max_size=REQUEST_LIMIT,
            compression=None,
            logger=_QUIET,
        )
    except InvalidStatus as error:
        status, body = error.response.status_code, bytes(error.response.body or b"")
    except (OSError, WebSocketException) as error:
        raise Unreachable(reason(error)) from None
    if status == HTTPStatus.UNAUTHORIZED and (why := refusal(body)):
        raise EntryRefused(why)
    if asks_for_port and (port := gateway_port(url)) is not None:
        gateway = parts._replace(netloc=f"{_PORT.sub('', parts.netloc)}:{port}").geturl()
        return open_link(gateway, path, headers, asks_for_port=False)
    hint = "; if it uses TLS, write https://" if 300 <= status <= HTTPStatus.BAD_REQUEST else ""
    if status == HTTPStatus.NOT_FOUND:
        hint = "; no bots connect there, perhaps because the cup is over"
    raise Unreachable(f"it answers with status {status}{hint}")


class _ConnectedTable:
    """Passes requests to an instance of the bot, one at a time, and sends its answers. `bot` is the
    instance, or a function that starts it for the first request."""

    def __init__(self, connector: Connector, bot: HttpBot | Callable[[], HttpBot]) -> None:
        self._connector = connector
        self._bot = bot
        self._lost = False  # whether the bot's connection was lost at the last request
        self._late_in: str | None = None  # the match in which the bot was late
        self.match: str | None = None  # of the latest request
        self.asked_at = 0.0  # by `time.monotonic`
        self.queue = SimpleQueue[_Request]()

    def run(self) -> None:
        while True:
            request = self.queue.get()
            left = request.deadline - monotonic()
            answer = self._ask(request, left) if left > 0 else (b"", False)
            self._connector.answer(request.number, *answer)

    def _ask(self, request: _Request, seconds: float) -> tuple[bytes, bool]:
        """Send the request to the bot. First start the bot if it has not been started, has ended,
        or was late in another match. Return the bytes of the bot's answer, and whether they are
        complete. An answer that is too large or not valid, or says that the bot is busy, counts as
        complete, because the runner finds the fault. Tell the author why an answer is incomplete,
        that the bot is busy, or that a move has a status other than 200."""
        call = request.call
        _, _, path = call.partition(" ")
        received, complete = b"", True
        try:
            bot = self._bot = self._bot if isinstance(self._bot, HttpBot) else self._bot()
            late = self._late_in not in (None, request.match)
            if late or (self._lost and not bot.running):
                self._late_in = None
                bot.restart()
            self._lost = False
            try:
                reply = bot.send(path, request.body, seconds)
            finally:
                received = bot.received[:ANSWER_LIMIT]
            if path == "/move" and reply.status != HTTPStatus.OK:
                status = f"The bot answered {call} with status {reply.status}, not 200."
                self._connector.say(status + self._last_line())
        except (ResponseTooLarge, ProtocolError):
            pass  # the runner finds the fault in the bytes
        except Busy as error:  # as above
            self._connector.say(f"The bot did not answer {call}: {error}")
        except TooLate:
            self._late_in, complete = request.match, False
            self._connector.say(f"Too late: the runner does not wait for {call} any more.")
        except (StartError, ConnectionLost) as error:
            self._lost, complete = True, False
            self._connector.say(f"The bot did not answer {call}: {error}{self._last_line()}")
        return received, complete

    def _last_line(self) -> str:
        return self._bot.last_line() if isinstance(self._bot, HttpBot) else ""


class _ReceiptKeeper:
    """Asks the arena at `url` for the run's digest every minute, and appends new digests to a file
    for `url` and the bot's `token`. `say` is called in another thread with messages, which also
    report errors."""

    def __init__(self, url: str, token: str, say: Callable[[str], None]) -> None:
        self._url = url
        self._token = token
        self._say = say
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()

    def begin(self, cup: str, bot: str) -> None:
        """Start, on the first call only, a thread that keeps receipts for this bot in this cup."""
        if self._thread is None:
            what = f"{self._url} {cup} {bot}"
            self._thread = threading.Thread(target=self._run, args=(what,), daemon=True)
            self._thread.start()

    def end(self) -> None:
        """Make the thread, if there is one, ask for a last receipt, and wait until the thread has
        ended. Each wait for the arena is limited to three seconds."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self, what: str) -> None:
        has_receipt, is_last = False, False
        try:
            path = receipts_path(self._url, self._token)
            while True:
                if receipt := ask_digest(self._url):
                    now = datetime.now(UTC).isoformat(timespec="seconds")
                    keep_receipt(path, what, receipt, now)
                    if not has_receipt:
                        self._say(f"Receipts of the run are kept in {path}.")
                    has_receipt = True
                if is_last:
                    break
                is_last = self._ended.wait(_RECEIPT_PERIOD_S)
        except StoreError as error:
            self._say(f"No receipts are kept: {error}")
        else:
            if not has_receipt:
                self._say(f"The pages at {self._url} gave no receipt of the run.")
