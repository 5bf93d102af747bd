"""Connections that send what a test gives them, and read nothing by themselves."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPResponse

HEAD = b"POST /v1/moves HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


def ask_moves(body: bytes, length: int | None = None) -> bytes:
    """A request for moves with this body, or with the beginning of a body of this length."""
    return HEAD + b"Content-Length: %d\r\n\r\n" % (length or len(body)) + body


def answer(connection: socket.socket) -> HTTPResponse:
    """The answer that a connection gets, whose body is not read yet."""
    response = HTTPResponse(connection)
    response.begin()
    return response


@contextmanager
def connections(
    port: int, count: int, sent: bytes = b"", room: int | None = None
) -> Iterator[list[socket.socket]]:
    """Open connections that have sent `sent`, with receive buffers of `room` bytes."""
    with ExitStack() as stack:
        opened = [stack.enter_context(socket.socket()) for _ in range(count)]
        for connection in opened:
            if room:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
            connection.settimeout(60)
            connection.connect(("127.0.0.1", port))
            connection.sendall(sent)
        yield opened
