"""A small HTTP server on raw sockets that answers POST /move as a handler says."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tournament.bot.url_bot import HttpBot


Handler = Callable[[socket.socket, dict[str, Any]], None]
Every = Callable[[socket.socket, str, str, bytes], None]
"""Answers every request, given its method, path and body."""
FOREVER = threading.Event()
LISTENING: list[socket.socket] = []
ABOUT = {"name": "hostile", "version": "1", "protocol": 1, "games": ["doudizhu"]}


def answer(body: bytes, *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """An HTTP answer. `length` replaces the true Content-Length; if negative, there is none."""
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", *headers]
    if length is None or length >= 0:
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def first(connection: socket.socket, request: dict[str, Any]) -> None:
    """Answer as a bot that conforms to the protocol and always plays the first move."""
    connection.sendall(answer(json.dumps({"move": request["moves"][0], "extra": [1]}).encode()))


def toy(name: str) -> Handler:
    """A bot whose move depends only on its name and the request."""

    def handle(connection: socket.socket, request: dict[str, Any]) -> None:
        moves = request["moves"]
        text = f"{name} {request['match']} {request['turn']} {request['view']['hand']}"
        choice = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") % len(moves)
        connection.sendall(answer(json.dumps({"move": moves[choice]}).encode()))

    return handle


def serve(
    listener: socket.socket, handle: Handler, about: Any = ABOUT, every: Every | None = None
) -> None:
    """Answer requests until the listening socket is closed.

    `handle` answers POST /move. `about` answers GET requests, as an object or as the bytes of the
    whole response. If `every` is given, it answers all requests instead.
    """
    while True:
        try:
            connection, _ = listener.accept()
        except OSError as error:  # perhaps only a failed TLS handshake
            if error.errno in (errno.EBADF, errno.EINVAL):
                return
            continue
        threading.Thread(
            target=_connection, args=(connection, handle, about, every), daemon=True
        ).start()


def _connection(
    connection: socket.socket, handle: Handler, about: Any, every: Every | None
) -> None:
    with contextlib.suppress(OSError, EOFError), connection:
        reader = connection.makefile("rb")
        while True:
            method, path, body = _request(reader)
            if every is not None:
                every(connection, method, path, body)
            elif method == "GET":
                whole = isinstance(about, bytes)
                connection.sendall(about if whole else answer(json.dumps(about).encode()))
            elif path == "/move":
                handle(connection, json.loads(body))
            else:
                connection.sendall(answer(b"{}", status="404 Not Found"))


def _request(reader: Any) -> tuple[str, str, bytes]:
    line = reader.readline()
    if not line:
        raise EOFError
    method, path, _ = line.decode().split()
    length = 0
    while (header := reader.readline().strip()) != b"":
        name, _, value = header.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return method, path, reader.read(length)


@contextmanager
def running(handle: Handler, about: Any = ABOUT, every: Every | None = None) -> Iterator[str]:
    """Run a misbehaving bot in this process. Yields its URL."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    with serving(listener, handle, about, every) as port:
        yield f"http://127.0.0.1:{port}"


@contextmanager
def connected(handle: Handler) -> Iterator[HttpBot]:
    """Run a misbehaving bot in this process. Yields a connection to it."""
    from tournament.bot.client import dial_url
    from tournament.bot.url_bot import HttpBot

    with running(handle) as url, closing(HttpBot(url, dial_url(url))) as bot:
        yield bot


@contextmanager
def serving(
    listener: socket.socket, handle: Handler, about: Any = ABOUT, every: Every | None = None
) -> Iterator[int]:
    """Run a misbehaving bot on a listening socket, then close the socket. Yields the port."""
    thread = threading.Thread(target=serve, args=(listener, handle, about, every), daemon=True)
    with listener:
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            # Otherwise the thread could still accept on the descriptor that the next server gets.
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
