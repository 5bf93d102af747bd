"""A bot as a match sees it: asked for a move within a deadline, or at fault."""

from __future__ import annotations

import errno
import json
import socket
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from queue import Empty, Queue
from time import monotonic
from typing import Any, NoReturn, Protocol
from urllib.parse import urlsplit

from tournament.bot.http_client import (
    ConnectionLost,
    Dial,
    HttpConnection,
    ProtocolError,
    Reply,
    ResponseTooLarge,
    dial_each,
    dial_inet,
)
from tournament.records import Answer, FaultKind

_KEPT = 16 * 1024
_SAID = ("name", "version", "author", "protocol", "games")
_NOT_OFFERED = (404, 405, 501)
_Address = tuple[Any, Any, int, str, Any]  # as socket.getaddrinfo gives them


class Failure(Exception):
    """A request that brought no move. `elapsed_s` is the time it took."""

    def __init__(self, kind: FaultKind, detail: str, elapsed_s: float, answer: Answer) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.elapsed_s = elapsed_s
        self.answer = answer


@dataclass(frozen=True, slots=True)
class Choice:
    """What a bot answered in time: a move, legal or not."""

    move: str
    elapsed_s: float


class Player(Protocol):
    """A bot at one seat."""

    @property
    def url(self) -> str:
        """Where it is asked."""

    def move(self, body: bytes, seconds: float) -> Choice:
        """Its answer to POST /move within this time; Failure."""

    def tell(self, path: str, body: bytes, seconds: float) -> None:
        """POST /start or /end; whatever comes of it is ignored."""

    def answer(self) -> Answer:
        """What the last request brought, as far as it came."""

    def output(self) -> str:
        """The end of what it has written in this match."""


class HttpBot:
    """A bot behind a connection of its own."""

    def __init__(self, url: str, dial: Dial) -> None:
        parts = urlsplit(url)
        self.url = url.rstrip("/")
        self._wire = HttpConnection(dial, parts.netloc, parts.path.rstrip("/"))
        self._deaf: set[str] = set()

    def close(self) -> None:
        """Drop the connection."""
        self._wire.close()

    def move(self, body: bytes, seconds: float) -> Choice:
        """Its answer within this time; Failure. The clock runs until the last byte is there."""
        began = monotonic()
        try:
            reply = self._wire.exchange("POST", "/move", body, began + seconds)
            elapsed = monotonic() - began
            if elapsed > seconds:
                raise TimeoutError
        except TimeoutError:
            elapsed = monotonic() - began
            detail = f"No whole answer within {seconds * 1000:.0f} ms."
            self._wire.close()
            self._fail(FaultKind.TIMEOUT, detail, elapsed)
        except ConnectionLost as error:
            self._fail(FaultKind.UNREACHABLE, str(error), monotonic() - began)
        except (ResponseTooLarge, ProtocolError) as error:
            self._fail(FaultKind.INVALID, str(error), monotonic() - began)
        try:
            return Choice(_move(reply), elapsed)
        except InvalidAnswer as error:
            self._fail(FaultKind.INVALID, str(error), elapsed)

    def tell(self, path: str, body: bytes, seconds: float) -> None:
        """POST /start or /end, unless the bot has said that it does not offer it, or let it
        hang before: it may waste this time once, not in every match."""
        if path in self._deaf:
            return
        try:
            reply = self._wire.exchange("POST", path, body, monotonic() + seconds)
        except TimeoutError:
            self._deaf.add(path)
            return
        except (OSError, ConnectionLost, ResponseTooLarge, ProtocolError):
            return
        if reply.status in _NOT_OFFERED:
            self._deaf.add(path)

    def greet(self, seconds: float) -> Reply:
        """Its whole answer to GET / within this time.

        Raises TimeoutError, ConnectionLost, ResponseTooLarge or ProtocolError.
        """
        return self._wire.exchange("GET", "/", b"", monotonic() + seconds)

    def answer(self) -> Answer:
        """What the last request brought, as far as it came."""
        return _answer(self._wire.seen)

    def output(self) -> str:
        """A bot by URL writes elsewhere."""
        return ""

    def _fail(self, kind: FaultKind, detail: str, elapsed_s: float) -> NoReturn:
        raise Failure(kind, detail, elapsed_s, self.answer())


class InvalidAnswer(Exception):
    """An answer that says nothing which could be used; the text is a sentence that says why."""


def _contents(reply: Reply) -> dict[str, Any]:
    """The JSON object in an answer; InvalidAnswer."""
    if 300 <= reply.status < 400:
        raise InvalidAnswer(f"It redirects ({reply.status}); a bot answers itself.")
    if reply.status != 200:
        raise InvalidAnswer(f"It answered with status {reply.status}, not 200.")
    if reply.encoding not in (None, "", "identity"):
        raise InvalidAnswer(f"Its answer is encoded as {reply.encoding[:40]}; send it plain.")
    try:
        text = reply.body.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidAnswer("Its answer is not UTF-8.") from None
    try:
        data = json.loads(text, parse_constant=_constant, object_pairs_hook=_object)
    except RecursionError:
        raise InvalidAnswer("Its answer is nested too deeply.") from None
    except ValueError as error:
        raise InvalidAnswer(f"Its answer is not JSON: {error}."[:200]) from None
    if not isinstance(data, dict):
        raise InvalidAnswer(f"Its answer is not a JSON object but {_kind(data)}.")
    return data


def _once(data: Mapping[str, Any], names: Sequence[str]) -> None:
    """InvalidAnswer if one of these is named more than once."""
    for name in names:
        if isinstance(data.get(name), _Several):
            raise InvalidAnswer(f'Its answer names "{name}" more than once.')


def _move(reply: Reply) -> str:
    """The move in an answer; extra fields are fine."""
    data = _contents(reply)
    if "move" not in data:
        raise InvalidAnswer('Its answer has no "move".')
    _once(data, ("move",))
    move = data["move"]
    if not isinstance(move, str):
        raise InvalidAnswer(f'Its "move" is not a string but {_kind(move)}.')
    return move


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


class _Several:
    """Stands for a value whose name an object has more than once."""

    def __repr__(self) -> str:
        return "named more than once"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; which of two moves a bot means cannot be known, so neither counts."""
    data = dict(pairs)
    if len(data) < len(pairs):
        for name, times in Counter(name for name, _ in pairs).items():
            if times > 1:
                data[name] = _Several()
    return data


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list) else "an object"


def _answer(seen: bytes) -> Answer:
    """The raw bytes of an answer as text, cut to what is kept."""
    if not seen:
        return Answer()
    head, _, body = seen.partition(b"\r\n\r\n")
    status_line, _, headers = head.partition(b"\r\n")
    words = status_line.split(b" ", 2)
    status = None
    if words[0].startswith(b"HTTP/") and len(words) > 1 and words[1].isdigit():
        status = int(words[1][:3])
    if status is None:
        headers, body = b"", seen
    return Answer(status, _text(headers), _text(body), len(body))


def _text(data: bytes) -> str:
    return data[:_KEPT].decode("utf-8", "backslashreplace")


def dial_url(url: str, seconds: float = 10) -> Dial:
    """Connections to a bot by URL. Its name is looked up once, here, within this time; OSError
    if there is no such host or nobody says so in time."""
    parts = urlsplit(url)
    host, tls = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if tls else 80)
    found = _looked_up(host, port, seconds)
    return dial_each(
        [dial_inet(address, family, host if tls else None) for family, _, _, _, address in found]
    )


def _looked_up(host: str, port: int, seconds: float) -> list[_Address]:
    """The addresses of a host. The system's look-up takes no deadline, so a thread waits for it."""
    found: Queue[list[_Address] | OSError] = Queue()

    def look_up() -> None:
        try:
            found.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:
            found.put(error)
        except UnicodeError:
            found.put(OSError(errno.EINVAL, "not the name of a host"))

    threading.Thread(target=look_up, daemon=True).start()
    try:
        answer = found.get(timeout=seconds)
    except Empty:
        why = f"its name was not looked up within {seconds:g} s"
        raise TimeoutError(errno.ETIMEDOUT, why) from None
    if isinstance(answer, OSError):
        raise answer
    return answer


def introduced(reply: Reply) -> Mapping[str, Any]:
    """What a bot says of itself in its answer to GET /, read as a move is; InvalidAnswer."""
    data = _contents(reply)
    _once(data, _SAID)
    return data


def declared(reply: Reply) -> Mapping[str, Any]:
    """What a bot says of itself in its answer to GET /; empty if it says nothing usable."""
    try:
        return introduced(reply)
    except InvalidAnswer:
        return {}
