"""A bot from a match's point of view: it answers a request for a move in time, or fails."""

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
    """A bot's move, legal or not, that arrived in time, with the time it took and its info.

    `fallback` says why the move is not the bot's own. None if the move is the bot's own.
    """

    move: str
    elapsed_s: float
    info: Info = NOTHING
    fallback: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that brought no legal move: the kind of fault, a sentence, and the time it took.

    `error` is the exception behind `detail`, or None.
    """

    kind: FaultKind
    detail: str
    elapsed_s: float
    answer: Answer
    error: Exception | None = None


class Player:
    """A bot or a person at one seat.

    By default a player takes no notifications, and returns nothing besides its moves.
    """

    url: str
    """The address that requests go to; "" for a player in this process."""

    def move(self, body: bytes, seconds: float) -> Choice | Failure:
        """Ask for a move with the body of POST /move, and wait up to `seconds` for the answer."""
        raise NotImplementedError

    def takes(self, path: str) -> bool:
        """Whether the player wants POST /start or /end."""
        return False

    def notify(self, path: str, body: bytes, seconds: float) -> None:
        """POST /start or /end. The answer is ignored."""

    def answer(self) -> Answer:
        """The answer to the last request."""
        return Answer()

    def output(self) -> str:
        """The end of the player's output in this match, or "" if it cannot be seen here."""
        return ""


MoveFunction = Callable[[JsonDict, Sequence[str]], str]
"""Chooses one of the legal moves, given a view and the moves in wire form."""


class InProcessBot(Player):
    """A house bot of the benchmark, which calls a function of this process and never fails.

    Moves cost no time, so a slow machine does not change a result.
    """

    url = ""

    def __init__(self, choose: MoveFunction) -> None:
        self._choose = choose

    def move(self, body: bytes, seconds: float) -> Choice:
        """Return the function's move, however long it takes."""
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
    """A bot on the server at `url`, behind a kept-alive connection that `dial` opens.

    Every request carries `token`, unless it is None. `received` holds the bytes of the last answer,
    and `elapsed_s` how long the last request took.
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
        """Whether the bot can be asked, as far as is known here."""
        return True

    def restart(self) -> None:
        """Start the bot again if it was started here, else do nothing.

        Raises:
            StartError: if the bot does not start.
        """

    def close(self) -> None:
        """Drop the connection, and end a bot that was started here."""
        self.disconnect()

    def move(self, body: bytes, seconds: float) -> Choice | Failure:
        """Ask for a move. The clock stops when the last byte of the answer has arrived."""
        try:
            answer = read_move(self.send("/move", body, seconds))
            return Choice(answer.move, self.elapsed_s, answer.info, answer.fallback)
        except ExchangeError as error:
            return Failure(error.kind, str(error), self.elapsed_s, self.answer(), error)

    def takes(self, path: str) -> bool:
        """Whether the bot wants POST /start or /end.

        A bot that declined one, or did not answer it in time, is not sent that one again. So a bot
        can waste this time once, but not in every match.
        """
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
        """Drop the connection. The next request connects again."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def send(self, path: str, body: bytes, seconds: float) -> Reply:
        """GET, or POST a body, and read the whole answer within `seconds`.

        A request whose connection fails or breaks is sent once more within the same time. A busy
        bot is asked again after its Retry-After, also within the same time.

        Raises:
            ExchangeError: if no usable answer came in time.
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
        """The answer to the last request, without the token, which the answer may repeat."""
        received = self.received
        if self._token is not None:
            received = received.replace(self._token.encode("ascii"), b"(token)")
        return _as_text(received)


def _as_text(received: bytes) -> Answer:
    """The raw bytes of an answer as text, cut to 16 KiB for the headers and for the body."""
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
    """A bot does not start or cannot be reached.

    The text says why, and how to fix it if `fix` is not "".
    """

    def __init__(self, text: str, fix: str = "") -> None:
        super().__init__(text if fix in text else f"{text} {fix}")
        self.fix = fix

    @property
    def problem(self) -> str:
        """The text without the fix."""
        text = str(self).removesuffix(self.fix).rstrip(" :")
        return text if text.endswith((".", "!", "?")) or not self.fix else f"{text}."


def reach_url(bot: Bot, url: str) -> HttpBot:
    """Connect once to a bot by URL. Return the bot.

    Raises:
        StartError: if nothing accepts connections there.
    """
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
