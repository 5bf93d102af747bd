"""HTTP with one deadline for the whole exchange and a cap on every byte that comes in.

The timeout of an HTTP library bounds each read, so a server that drips bytes is never too
late for it. Here the socket itself is bounded: before every operation its timeout is what is
left of the deadline, and it counts what it receives. Whatever reads from it (the status line,
headers, chunks, trailers) is bounded with it.
"""

from __future__ import annotations

import errno
import io
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse, IncompleteRead, RemoteDisconnected
from time import monotonic
from typing import Any

BODY_LIMIT = 64 * 1024
HEAD_LIMIT = 16 * 1024
_TOO_LARGE = f"Its answer has more than {BODY_LIMIT // 1024} KiB."
_BUFFER = io.DEFAULT_BUFFER_SIZE


class TooMuch(Exception):
    """More came back than a bot may send."""


class Broken(Exception):
    """No connection, or it broke before the whole answer was there."""


class Nonsense(Exception):
    """What came back is not HTTP, or not what was asked for."""


class Bounded(socket.socket):
    """A socket whose every operation ends at `deadline` (time.monotonic, seconds), that
    refuses to receive more than `budget` bytes and keeps a copy in `seen`."""

    deadline: float
    budget: int
    seen: bytearray
    ended: bool

    def bound(self, deadline: float) -> None:
        """Begin an exchange."""
        self.deadline = deadline
        self.budget = HEAD_LIMIT + _BUFFER
        self.seen = bytearray()
        self.ended = False

    def left(self) -> float:
        """Seconds until the deadline; TimeoutError when there are none."""
        left = self.deadline - monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def recv_into(self, buffer: Any, nbytes: int | None = None, flags: int = 0) -> int:
        """Receive within the deadline and the budget."""
        self.settimeout(self.left())
        got = super().recv_into(buffer)
        self.seen += memoryview(buffer)[:got]
        self.ended = self.ended or not got
        self.budget -= got
        if self.budget < 0:
            raise TooMuch
        return got

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Send within the deadline; the timeout of sendall is for all of it."""
        self.settimeout(self.left())
        super().sendall(data, flags)


class _Plain(Bounded):
    pass


class _Tls(Bounded, ssl.SSLSocket):
    pass


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer."""

    status: int
    body: bytes
    encoding: str | None


Dial = Callable[[float], Bounded]
"""Opens a connection before a deadline; OSError if there is none."""


def dial_inet(address: tuple[Any, ...], family: int, tls_name: str | None = None) -> Dial:
    """Connections to a resolved address, by TLS if the certificate's name is given."""
    context = None
    if tls_name is not None:
        context = ssl.create_default_context()
        context.sslsocket_class = _Tls

    def dial(deadline: float) -> Bounded:
        plain = _Plain(family, socket.SOCK_STREAM)
        try:
            plain.bound(deadline)
            plain.settimeout(plain.left())
            plain.connect(address)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if context is None:
                return plain
        except BaseException:
            plain.close()
            raise
        tls = context.wrap_socket(plain, server_hostname=tls_name, do_handshake_on_connect=False)
        if not isinstance(tls, _Tls):
            raise TypeError("The TLS context makes sockets of another class.")
        try:
            tls.bound(deadline)
            tls.settimeout(tls.left())
            tls.do_handshake()
        except BaseException:
            tls.close()
            raise
        return tls

    return dial


def dial_through(door: socket.socket, address: tuple[str, int], deadline: float) -> Bounded:
    """A connection out of a sandbox: its connector hands out the socket, connected here."""
    left = deadline - monotonic()
    if left <= 0:
        raise TimeoutError
    door.settimeout(left)
    door.sendall(b"C")
    _, passed, _, _ = socket.recv_fds(door, 1, 1)
    if not passed:
        raise ConnectionError(errno.EPIPE, "Its sandbox has ended")
    inner = _Plain(fileno=passed[0])
    try:
        if (inner.family, inner.type) != (socket.AF_INET, socket.SOCK_STREAM):
            raise ConnectionError(errno.EPROTO, "Its sandbox handed out something else")
        inner.bound(deadline)
        inner.settimeout(inner.left())
        inner.connect(address)
        inner.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        inner.close()
        raise
    return inner


def dial_each(dials: list[Dial]) -> Dial:
    """Connections to the first of several addresses that takes one; that one is remembered."""

    def dial(deadline: float) -> Bounded:
        refused: OSError = ConnectionRefusedError("no address")
        for index, one in enumerate(dials):
            try:
                found = one(deadline)
            except TimeoutError:
                raise
            except OSError as error:
                refused = error
                continue
            dials.insert(0, dials.pop(index))
            return found
        raise refused

    return dial


class Wire:
    """One kept-alive connection to one server. `seen` is what the last exchange brought."""

    def __init__(self, dial: Dial, host: str, prefix: str = "") -> None:
        self._dial = dial
        self._host = host
        self._prefix = prefix
        self._heads: dict[tuple[str, str], bytes] = {}
        self._socket: Bounded | None = None
        self.seen = b""

    def close(self) -> None:
        """Drop the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def exchange(self, method: str, path: str, body: bytes, deadline: float) -> Reply:
        """Send a request and read the whole answer before `deadline` (time.monotonic).

        A connection that cannot be had or breaks is tried once more within the deadline.
        TimeoutError, Broken, TooMuch or Nonsense; the text of each says what happened.
        """
        self.seen = b""
        request = self._head(method, path) + b"%d\r\n\r\n" % len(body) + body
        try:
            try:
                return self._once(request, method, deadline)
            except Broken:
                self.close()
                return self._once(request, method, deadline)
        except BaseException:
            self.close()
            raise

    def _head(self, method: str, path: str) -> bytes:
        head = self._heads.get((method, path))
        if head is None:
            head = (
                f"{method} {self._prefix}{path} HTTP/1.1\r\nHost: {self._host}\r\n"
                "User-Agent: stich\r\nAccept: application/json\r\nAccept-Encoding: identity\r\n"
                "Content-Type: application/json\r\nContent-Length: "
            ).encode("ascii")
            self._heads[method, path] = head
        return head

    def _once(self, request: bytes, method: str, deadline: float) -> Reply:
        sock: Bounded | None = None
        try:
            if self._socket is None:
                self._socket = self._dial(deadline)
            sock = self._socket
            sock.bound(deadline)
            sock.sendall(request)
            return self._answer(sock, method)
        except (TimeoutError, Broken, TooMuch, Nonsense):
            raise
        except RemoteDisconnected:
            raise Broken("It closed the connection without an answer.") from None
        except IncompleteRead:
            raise Broken("It closed the connection in the middle of its answer.") from None
        except OSError as error:
            where = "No connection" if sock is None else "The connection broke"
            raise Broken(f"{where}: {error.strerror or error}.") from None
        except (HTTPException, ValueError) as error:
            said = f"{type(error).__name__}: {error}"[:200]
            raise Nonsense(f"What came back is not HTTP ({said}).") from None
        finally:
            if sock is not None:
                self.seen = bytes(sock.seen)

    def _answer(self, sock: Bounded, method: str) -> Reply:
        response = HTTPResponse(sock, method=method)
        try:
            try:
                response.begin()
            except TooMuch:
                raise TooMuch(f"Its headers have more than {HEAD_LIMIT // 1024} KiB.") from None
            if sock.ended:
                raise Broken("It closed the connection in the middle of its headers.")
            if response.length is not None and response.length > BODY_LIMIT:
                raise TooMuch(_TOO_LARGE)
            sock.budget += 2 * BODY_LIMIT  # room for the framing of chunks
            try:
                body = response.read(BODY_LIMIT + 1)
            except TooMuch:
                body = bytes(BODY_LIMIT + 1)
            if len(body) > BODY_LIMIT:
                raise TooMuch(_TOO_LARGE)
            if response.length:
                raise Broken("It closed the connection in the middle of its answer.")
            if response.will_close:
                self.close()
            return Reply(response.status, body, response.getheader("Content-Encoding"))
        finally:
            response.close()
