"""Wrong answers, each with the kind of fault that it must cause."""

import gzip
import itertools
import json
import os
import socket
import struct
from typing import Any

from .server import FOREVER, Handler, answer, first


def sends(data: bytes) -> Handler:
    return lambda connection, _: connection.sendall(data)


def says(text: str | bytes) -> Handler:
    """A bot that answers with this body."""
    return sends(answer(text if isinstance(text, bytes) else text.encode()))


def hang(connection: socket.socket, request: dict[str, Any]) -> None:
    FOREVER.wait(60)


def busy(*headers: str, status: str = "429 Too Many Requests") -> Handler:
    """A bot that is busy at every other request, and otherwise plays the first move.

    The first request finds it busy.
    """
    answers = itertools.cycle([sends(answer(b"", *headers, status=status)), first])
    return lambda connection, request: next(answers)(connection, request)


def endless(start: bytes, piece: bytes, pause_s: float = 0) -> Handler:
    """A bot that sends `start`, and then `piece` over and over, pausing before each."""

    def handle(connection: socket.socket, request: dict[str, Any]) -> None:
        connection.sendall(start)
        while not FOREVER.wait(pause_s):
            connection.sendall(piece)

    return handle


def reset(connection: socket.socket, request: dict[str, Any]) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(connection.detach())


def half(data: bytes) -> Handler:
    """A bot that sends these bytes and closes the connection."""

    def handle(connection: socket.socket, request: dict[str, Any]) -> None:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_RDWR)
        connection.close()

    return handle


DRIP_S = 0.01
BOMB = gzip.compress(b'{"move": "' + b" " * 1_000_000 + b'"}')
HALF_BODY = answer(b'{"move": ', length=400)
OK = b"HTTP/1.1 200 OK\r\n"
TRICKLE = OK + b"X-Drip: "
CHUNKED = answer(b"", "Transfer-Encoding: chunked", length=-1)
CHUNK = b"1\r\n \r\n"
ELSEWHERE = answer(b"", "Location: http://127.0.0.1:1/move", status="302 Found")
BY_FAULT: dict[str, dict[str, Handler]] = {
    "timeout": {
        "hang": hang,
        "drip-headers": endless(TRICKLE, b"x", DRIP_S),
        "drip-many-headers": endless(OK, b"X: y\r\n", DRIP_S),
        "drip-body": endless(answer(b"", length=60_000), b" ", DRIP_S),
        "drip-continue": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n", DRIP_S),
        "drip-chunks": endless(CHUNKED, CHUNK, DRIP_S),
    },
    "invalid": {
        "endless": endless(answer(b"", length=-1), b" " * 4096),
        "endless-chunks": endless(CHUNKED, CHUNK * 999),
        "endless-headers": endless(OK, b"X-A: b\r\n" * 999),
        "endless-header": endless(TRICKLE, b"x" * 4096),
        "huge": says(b'{"move": "pass", "x": "' + b"x" * 70_000 + b'"}'),
        "huge-announced": sends(answer(b"", length=10**12)),
        "gzip-bomb": sends(answer(BOMB, "Content-Encoding: gzip")),
        "deep": says("[" * 60_000),
        "deep-object": says('{"move":' * 8_000),
        "redirect": sends(ELSEWHERE),
        "error-500": sends(answer(b'{"move": "pass"}', status="500 Internal Server Error")),
        "no-content": sends(b"HTTP/1.1 204 No Content\r\n\r\n"),
        "upgrade": sends(b"HTTP/1.1 101 Switching Protocols\r\n\r\n"),
        "not-http": half(b"SSH-2.0-OpenSSH_9.2\r\n"),
        "not-json": says("I pass."),
        "not-utf8": says(b'{"move": "\xff\xfe"}'),
        "utf16": says('{"move": "pass"}'.encode("utf-16")),
        "nan": says('{"move": NaN}'),
        "infinity-beside": says('{"move": "pass", "score": Infinity}'),
        "huge-number": says('{"move": ' + "9" * 6000 + "}"),
        "null": says("null"),
        "null-move": says('{"move": null}'),
        "list": says('["pass"]'),
        "no-move": says('{"mvoe": "pass"}'),
        "two-moves": says('{"move": "pass", "why": [], "move": "bid:1"}'),
        "same-move-twice": says('{"move": "pass", "move": "pass"}'),
        "empty": says(""),
        "raw-control": says(b'{"move": "pass\x00\x1b"}'),
    },
    "illegal": {
        "empty-move": says('{"move": ""}'),
        "illegal": says('{"move": "play:3s3h3d3c"}'),
        "control": says('{"move": "pass\\u0000\\u001b[2J\\r\\n"}'),
        "surrogate": says('{"move": "\\ud800"}'),
        "long-move": says(json.dumps({"move": "play:" + "3s" * 30_000})),
    },
    "unreachable": {
        "reset": reset,
        "half-body": half(HALF_BODY),
        "half-headers": half(OK + b"Content-Le"),
        "half-chunks": half(CHUNKED + b"ff\r\nabc"),
        "closes": half(b""),
    },
}
WAYS = {
    name: (handle, fault)
    for fault, handlers in BY_FAULT.items()
    for name, handle in handlers.items()
}
"""For each way to answer POST /move wrongly, the bot and the kind of fault that it must cause."""
