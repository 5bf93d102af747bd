"""Proxies between an author's program and an arena, which a test can cut."""

import contextlib
import itertools
import socket
import threading
from collections.abc import Callable, Iterable


class Link:
    """Forwards TCP connections to a port until they are cut.

    Pieces of data are numbered across both directions. A number in `loses` breaks the connection.
    """

    def __init__(self, to: int, loses: Iterable[int] = ()) -> None:
        self._to = to
        self._numbers = itertools.count(1)
        self.loses = set(loses)
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.up = True
        self._start(self._accept)

    def cut(self) -> None:
        """Break all connections, and accept none until `up` is set."""
        with self._lock:
            self.up = False
            for connection in self._open:
                _shut(connection)
            self._open.clear()

    def close(self) -> None:
        self.cut()
        self._listener.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def target(self, near: socket.socket) -> tuple[str, int]:
        """The address to which a connection is forwarded. Raises OSError to refuse it."""
        return "127.0.0.1", self._to

    def _start(self, work: Callable[..., None], *args: socket.socket) -> None:
        self._threads.append(threading.Thread(target=work, args=args, daemon=True))
        self._threads[-1].start()

    def _accept(self) -> None:
        with self._listener, contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                self._start(self._carry, near)

    def _carry(self, near: socket.socket) -> None:
        with near, contextlib.suppress(OSError):  # nobody listens there: `near` is closed
            self._keep(near)
            with socket.create_connection(self.target(near)) as far:
                self._keep(far)
                back = threading.Thread(target=self._pump, args=(far, near), daemon=True)
                back.start()
                self._pump(near, far)
                back.join()

    def _keep(self, connection: socket.socket) -> None:
        with self._lock:
            if not self.up:
                raise ConnectionRefusedError
            self._open.append(connection)

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                with self._lock:
                    number = next(self._numbers)
                if number in self.loses:
                    self.loses.remove(number)
                    break
                target.sendall(data)
        _shut(source)
        _shut(target)


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class ConnectProxy(Link):
    """A company's proxy, which only accepts CONNECT requests. All lead to this machine."""

    def __init__(self, to: int) -> None:
        self.asked: list[str] = []  # the first line of each request
        super().__init__(to)

    def target(self, near: socket.socket) -> tuple[str, int]:
        with near.makefile("rb", buffering=0) as lines:
            method, where, *_ = (lines.readline().decode("ascii") or "- -").split()
            while lines.readline() not in (b"\r\n", b""):
                continue
        self.asked.append(f"{method} {where}")
        if method != "CONNECT":
            near.sendall(b"HTTP/1.1 405 Only CONNECT\r\nContent-Length: 0\r\n\r\n")
            raise ConnectionRefusedError
        near.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
        return super().target(near)
