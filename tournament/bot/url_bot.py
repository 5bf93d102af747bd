"""Bots as a match sees them: a bot answers a request for a move in time, or fails."""

import json
import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic, sleep
from urllib.parse import urlsplit

from games import IllegalMove
from games.game import JsonDict
from tournament.bot.client import (
    Busy,
    ConnectionLost,
    Dial,
    ExchangeError,
    Reply,
    TooLate,
    dial_url,
    read_reply,
    seconds_left,
)
from tournament.bot.protocol import UNSUPPORTED, Choice, read_move
from tournament.config.cup import Bot
from tournament.errors import StichError
from tournament.records import Answer, FaultKind
from tournament.text import printable

_KEPT = 16 * 1024
CONNECT_S = 5.0


@dataclass(frozen=True, slots=True)
class Failure:
    """A request for a move that got no legal move. `detail` is a sentence that says why, and
    `error` is the exception that caused the failure, if any."""

    kind: FaultKind
    detail: str
    elapsed_s: float  # since the request
    answer: Answer
    error: Exception | None = None


class Player:
    """A bot or a person at a seat. `url` is the address of the player's server, or "" if the player
    is in this process. By default, a player wants no notifications (see `takes`)."""

    url: str

    def move(self, body: bytes, seconds: float) -> Choice | Failure:
        """Ask for a move, with `body` as the body of POST /move, and wait up to `seconds` for the
        answer. The move may be illegal."""
        raise NotImplementedError

    def takes(self, path: str) -> bool:
        """Return whether the player wants the notification `path`, which is "/start" or "/end"."""
        return False

    def notify(self, path: str, body: bytes, seconds: float) -> None:
        """Send the notification `path`, "/start" or "/end", and wait up to `seconds` for an answer.
        The answer is ignored, as is a failure to get one."""

    def answer(self) -> Answer:
        """Return the answer to the last request, or an empty answer if HTTP is not used."""
        return Answer()

    def output(self) -> str:
        """Return the end of the player's output in this match, or "" if there is none."""
        return ""


MoveFunction = Callable[[JsonDict, Sequence[str]], str]
"""Chooses a move, given the view and the legal moves in wire form."""


class InProcessBot(Player):
    """A player that calls a function in this process. The time for its moves is not counted."""

    url = ""

    def __init__(self, choose: MoveFunction) -> None:
        self._choose = choose

    def move(self, body: bytes, seconds: float) -> Choice:
        """Return the function's move, however long it takes. Its exceptions pass through."""
        request = json.loads(body)
        return Choice(self._choose(request["view"], request["moves"]), 0.0)


def illegal_move(choice: Choice, error: IllegalMove, answer: Answer) -> Failure:
    """Return the failure of a bot that chose an illegal move. `answer` is what the bot sent, and
    `error` says why the move is illegal."""
    detail = f"{json.dumps(choice.move[:200])} is not legal here ({error.reason}): {error.detail}"
    return Failure(FaultKind.ILLEGAL, detail, choice.elapsed_s, answer, error)


class HttpBot(Player):
    """A bot that is asked over HTTP, through one connection that is kept open.

    `dial` opens a connection to the server at `url`. Every request has `token` as its bearer token,
    unless `token` is None. `received` holds the bytes of the last answer, perhaps incomplete, and
    `elapsed_s` the seconds that the last request took.
    """

    def __init__(self, url: str, dial: Dial, token: str | None = None) -> None:
        self.url = url.rstrip("/")
        self.dial = dial
        self._token = token
        parts = urlsplit(self.url)
        self._path = parts.path
        self._headers = (
            f"Host: {parts.netloc}\r\nUser-Agent: stich\r\nAccept: application/json\r\n"
            "Accept-Encoding: identity\r\nContent-Type: application/json\r\n"
        )
        if token:
            self._headers += f"Authorization: Bearer {token}\r\n"
        self._socket: socket.socket | None = None
        self._unsupported: set[str] = set()
        self.received = b""
        self.elapsed_s = 0.0

    @property
    def running(self) -> bool:
        """Whether the bot's process is running. Always true for a remote bot."""
        return True

    def last_line(self) -> str:
        """Return ' Its last line: "…".', with the last line of the output, or "" without output."""
        lines = self.output().strip().splitlines()
        return f' Its last line: "{printable(lines[-1][:200])}".' if lines else ""

    def restart(self) -> None:
        """End the bot and start it again if the runner has started it. Otherwise, do nothing.

        Raises:
            StartError: if the bot does not start.
        """

    def close(self) -> None:
        """Close the connection, and end the bot if the runner has started it."""
        self.disconnect()

    def move(self, body: bytes, seconds: float) -> Choice | Failure:
        """Ask for a move (see `Player.move`). Connecting and retrying count as the bot's time."""
        try:
            return read_move(self.send("/move", body, seconds), self.elapsed_s)
        except ExchangeError as error:
            return Failure(error.kind, str(error), self.elapsed_s, self.answer(), error)

    def takes(self, path: str) -> bool:
        """Return False if the bot has declined the notification `path` or answered it too late."""
        return path not in self._unsupported

    def notify(self, path: str, body: bytes, seconds: float) -> None:
        """Send a notification (see `Player.notify`). If the bot declines it or is too late, `takes`
        returns False for that path from now on."""
        try:
            declined = self.send(path, body, seconds).status in UNSUPPORTED
        except ExchangeError as error:
            declined = isinstance(error, TooLate)
        if declined:
            self._unsupported.add(path)

    def disconnect(self) -> None:
        """Close the connection. The next request opens a new connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def send(self, path: str, body: bytes, seconds: float) -> Reply:
        """Send a GET request to `path` below the bot's URL, or a POST request if there is a body.
        Return the answer, which may have any status.

        If the connection fails, the request is sent once more. If the bot is busy, the request is
        sent again after the time in Retry-After. All this takes at most `seconds`.

        Raises:
            ExchangeError: if no complete answer comes in time, the connection fails twice in
                a row, the bot is busy for too long, or the answer is too large or not HTTP. The
                connection is then closed.
        """
        method = "POST" if body else "GET"
        head = f"{method} {self._path}{path} HTTP/1.1\r\n{self._headers}"
        request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode("ascii") + body
        began = monotonic()
        deadline = began + seconds
        try:
            while True:
                try:
                    reply = self._exchange(request, deadline)
                except ConnectionLost:
                    self.disconnect()
                    reply = self._exchange(request, deadline)
                seconds_left(deadline)  # the last byte may have come too late
                if (busy_s := reply.busy_s) is None:
                    return reply
                if monotonic() + busy_s >= deadline:
                    raise Busy(
                        f"It was busy ({reply.status}), and its Retry-After goes beyond the"
                        f" deadline of {seconds * 1000:.0f} ms."
                    )
                sleep(busy_s)
        except BaseException as error:
            self.disconnect()
            if isinstance(error, TimeoutError):
                raise TooLate(f"No complete answer within {seconds * 1000:.0f} ms.") from None
            raise
        finally:
            self.elapsed_s = monotonic() - began

    def _exchange(self, request: bytes, deadline: float) -> Reply:
        received = bytearray()
        try:
            if self._socket is None:
                self._socket = self.dial(deadline)
            self._socket.settimeout(seconds_left(deadline))
            self._socket.sendall(request)  # the timeout bounds all of it
            reply, reusable = read_reply(self._socket, deadline, received)
            if not reusable:
                self.disconnect()
            return reply
        except TimeoutError:
            raise
        except OSError as error:
            why = error.strerror or error
            if self._socket is None:
                raise ConnectionLost(f"No connection: {why}.") from None
            raise ConnectionLost(f"The connection broke: {why}.") from None
        finally:
            self.received = bytes(received)

    def answer(self) -> Answer:
        """Return the answer to the last request, as far as it arrived, with the token masked."""
        received = self.received
        if self._token is not None:
            received = received.replace(self._token.encode("ascii"), b"(token)")
        return _as_text(received)


def _as_text(received: bytes) -> Answer:
    """Return an answer with headers and body cut to 16 KiB each. Without a status line, everything
    counts as the body."""
    head, *rest = re.split(rb"\r?\n\r?\n", received, maxsplit=1)
    status_line, *headers = re.split(rb"\r?\n", head, maxsplit=1)
    status = re.match(rb"HTTP/[^ ]* (\d{1,3})\d*( |$)", status_line)
    head, body = (b"".join(headers), b"".join(rest)) if status else (b"", received)
    head_text, body_text = (
        part[:_KEPT].decode("utf-8", "backslashreplace") for part in (head, body)
    )
    return Answer(int(status[1]) if status else None, head_text, body_text, len(body))


class StartError(StichError):
    """A bot does not start or cannot be reached. The text says why. `fix`, which may be "", is the
    part of the text that says how to fix that."""

    def __init__(self, text: str, fix: str = "") -> None:
        super().__init__(text if fix in text else f"{text} {fix}")
        self.fix = fix

    @property
    def problem(self) -> str:
        """The text without `fix`, as a whole sentence."""
        text = str(self).removesuffix(self.fix).rstrip(" :")
        return text if text.endswith((".", "!", "?")) or not self.fix else f"{text}."


def reach_url(bot: Bot) -> HttpBot:
    """Check that a bot's URL accepts a connection. Return the bot. The bot must have a URL.

    Raises:
        StartError: if the host is unknown, or no connection can be opened within 5 seconds.
    """
    url = bot.url or ""
    try:
        dial = dial_url(url)
        dial(monotonic() + CONNECT_S).close()
    except OSError as error:
        where = "the end of its connection" if bot.connect else url
        why = error.strerror or f"no answer within {CONNECT_S:g} s"
        raise StartError(
            f"{bot.name}: nothing accepts connections at {where} ({why}); start it, or fix its url."
        ) from None
    return HttpBot(url, dial, bot.token)
