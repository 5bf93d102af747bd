"""A bot as a match sees it: asked for a move, it answers with one in time or fails."""

import json
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
    ReplyReader,
    TooLate,
    dial_url,
    seconds_left,
)
from tournament.bot.protocol import NOTHING, UNSUPPORTED, Info, read_move
from tournament.config.cup import Bot
from tournament.errors import StichError
from tournament.records import Answer, FaultKind

_KEPT = 16 * 1024
_PIECE = 64 * 1024
CONNECT_S = 5.0


@dataclass(frozen=True, slots=True)
class Choice:
    """A move that a bot answered in time, legal or not, how long it took, and what it said.

    `fallback` says why the move is not the bot's own; None if it is.
    """

    move: str
    elapsed_s: float
    info: Info = NOTHING
    fallback: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that brought no legal move: which fault, a sentence, how long it took.

    `error` tells apart what `detail` says in words.
    """

    kind: FaultKind
    detail: str
    elapsed_s: float
    answer: Answer
    error: Exception | None = None


class Player:
    """A bot or a person at one seat. By default it is notified of nothing, and nothing comes back
    besides its moves."""

    url: str
    """Where it is asked."""

    def move(self, body: bytes, seconds: float) -> Choice | Failure:
        """Its answer to POST /move within this time."""
        raise NotImplementedError

    def takes(self, path: str) -> bool:
        """Whether it wants POST /start or /end."""
        return False

    def notify(self, path: str, body: bytes, seconds: float) -> None:
        """POST /start or /end; the answer does not matter."""

    def answer(self) -> Answer:
        """What came back to the last request."""
        return Answer()

    def output(self) -> str:
        """The end of what it has written in this match, as far as it is seen here."""
        return ""


MoveFunction = Callable[[JsonDict, Sequence[str]], str]
"""Chooses one of the legal moves from a view, both in their wire form."""


class InProcessBot(Player):
    """A house bot of the benchmark: calls a function of this process, which never fails. Its moves
    cost no time, so a slow machine does not change a result."""

    url = ""

    def __init__(self, choose: MoveFunction) -> None:
        self._choose = choose

    def move(self, body: bytes, seconds: float) -> Choice:
        """The move that the function chooses, however long it takes."""
        asked = json.loads(body)
        return Choice(self._choose(asked["view"], asked["moves"]), 0.0)


def illegal_move(choice: Choice, error: IllegalMove, answer: Answer) -> Failure:
    """The failure of a bot whose move the rules refuse."""
    detail = f"{json.dumps(choice.move[:200])} is not legal here ({error.reason}): {error.detail}"
    return Failure(FaultKind.ILLEGAL, detail, choice.elapsed_s, answer, error)


def refused_fallback(choice: Choice, answer: Answer) -> Failure:
    """The failure of a bot whose fallback moved, in a cup where that is a fault."""
    detail = f"Its fallback moved, which is a fault in this cup: {choice.fallback}"
    return Failure(FaultKind.INVALID, detail, choice.elapsed_s, answer)


class HttpBot(Player):
    """A bot behind a kept-alive connection of its own to the server at `url`, which `dial` opens.

    Every request carries the `token`. `received` and `elapsed_s` tell what the last one brought and
    how long it took.
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
        self._headers += f"Authorization: Bearer {token}\r\n" if token else ""
        self._socket: socket.socket | None = None
        self._unsupported: set[str] = set()
        self.received = b""
        self.elapsed_s = 0.0

    @property
    def running(self) -> bool:
        """Whether it can be asked, as far as is known here."""
        return True

    def restart(self) -> None:
        """Start it again if it was started here; StartError."""

    def close(self) -> None:
        """Drop the connection, and end what was started here."""
        self.disconnect()

    def move(self, body: bytes, seconds: float) -> Choice | Failure:
        """Its answer within this time; the clock stops when the last byte is there."""
        try:
            said = read_move(self.send("/move", body, seconds))
            return Choice(said.move, self.elapsed_s, said.info, said.fallback)
        except ExchangeError as error:
            return Failure(error.kind, str(error), self.elapsed_s, self.answer(), error)

    def takes(self, path: str) -> bool:
        """Whether it wants POST /start or /end: until it has declined one or not answered in time.
        It may waste this time once, not in every match."""
        return path not in self._unsupported

    def notify(self, path: str, body: bytes, seconds: float) -> None:
        """POST /start or /end."""
        try:
            declined = self.send(path, body, seconds).status in UNSUPPORTED
        except ExchangeError as error:
            declined = isinstance(error, TooLate)
        if declined:
            self._unsupported.add(path)

    def disconnect(self) -> None:
        """Drop the connection; the next request connects again."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def send(self, path: str, body: bytes, seconds: float) -> Reply:
        """GET, or POST a body, and read the whole answer within `seconds`.

        If there is no connection or it breaks, it is tried once more within the same time. A bot
        that is busy is asked again when it says so, within the same time too. ExchangeError.
        """
        method = "POST" if body else "GET"
        head = f"{method} {self._path}{path} HTTP/1.1\r\n{self._headers}"
        request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode("ascii") + body
        began = monotonic()
        deadline = began + seconds
        try:
            reply = self._exchange_twice(request, deadline)
            while (busy_s := reply.busy_s) is not None:
                if monotonic() + busy_s >= deadline:
                    raise Busy(
                        f"It was busy ({reply.status}), and its Retry-After goes beyond the"
                        f" deadline of {seconds * 1000:.0f} ms."
                    )
                sleep(busy_s)
                reply = self._exchange_twice(request, deadline)
            seconds_left(deadline)  # the last byte may have come too late
            return reply
        except BaseException as error:
            self.disconnect()
            if isinstance(error, TimeoutError):
                raise TooLate(f"No complete answer within {seconds * 1000:.0f} ms.") from None
            raise
        finally:
            self.elapsed_s = monotonic() - began

    def _exchange_twice(self, request: bytes, deadline: float) -> Reply:
        try:
            return self._exchange_once(request, deadline)
        except ConnectionLost:
            self.disconnect()
            return self._exchange_once(request, deadline)

    def _exchange_once(self, request: bytes, deadline: float) -> Reply:
        pieces: list[bytes] = []
        try:
            if self._socket is None:
                self._socket = self.dial(deadline)
            sock = self._socket
            sock.settimeout(seconds_left(deadline))
            sock.sendall(request)  # the timeout bounds all of it
            reader = ReplyReader()
            while not reader.done:
                sock.settimeout(seconds_left(deadline))
                data = sock.recv(_PIECE)
                if data:
                    pieces.append(data)
                    reader.feed(data)
                else:
                    reader.end()
            if not reader.reusable:
                self.disconnect()
            return reader.reply
        except TimeoutError:
            raise
        except OSError as error:
            why = error.strerror or error
            if self._socket is None:
                raise ConnectionLost(f"No connection: {why}.") from None
            raise ConnectionLost(f"The connection broke: {why}.") from None
        finally:
            self.received = b"".join(pieces)

    def answer(self) -> Answer:
        """What came back to the last request, without the token that it may repeat."""
        received = self.received
        if self._token is not None:
            received = received.replace(self._token.encode("ascii"), b"(token)")
        return _as_text(received)


def _as_text(received: bytes) -> Answer:
    """The raw bytes of an answer as text, cut to what is kept."""
    if not received:
        return Answer()
    head, _, body = received.partition(b"\r\n\r\n")
    status_line, _, headers = head.partition(b"\r\n")
    words = status_line.split(b" ", 2)
    status = None
    if words[0].startswith(b"HTTP/") and len(words) > 1 and words[1].isdigit():
        status = int(words[1][:3])
    if status is None:
        headers, body = b"", received
    return Answer(status, _decode(headers), _decode(body), len(body))


def _decode(data: bytes) -> str:
    return data[:_KEPT].decode("utf-8", "backslashreplace")


class StartError(StichError):
    """A bot that does not start; the text says why, and how to fix it where `fix` is known."""

    def __init__(self, text: str, fix: str = "") -> None:
        super().__init__(text if fix in text else f"{text} {fix}")
        self.fix = fix

    @property
    def problem(self) -> str:
        """The text without the fix."""
        found = str(self).removesuffix(self.fix).rstrip(" :")
        return found if found.endswith((".", "!", "?")) or not self.fix else f"{found}."


def reach_url(bot: Bot, url: str) -> HttpBot:
    """A bot by URL that accepts connections; StartError."""
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
