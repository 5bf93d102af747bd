"""Wrong answers, one for each kind, with the fault that must result."""

import gzip
import itertools
import json
import os
import socket
import struct
from typing import Any

from .server import FOREVER, Handler, answer, first


def sends(data: bytes) -> Handler:
    def handle(connection: socket.socket, request: dict[str, Any]) -> None:
        connection.sendall(data)

    return handle


def says(text: str | bytes) -> Handler:
    return sends(answer(text if isinstance(text, bytes) else text.encode()))


def hang(connection: socket.socket, request: dict[str, Any]) -> None:
    FOREVER.wait(60)


def busy(*headers: str, status: str = "429 Too Many Requests") -> Handler:
    """Answers so every other time, and the others with the first move."""
    answers = itertools.cycle([sends(answer(b"", *headers, status=status)), first])

    def handle(connection: socket.socket, request: dict[str, Any]) -> None:
        next(answers)(connection, request)

    return handle


def drips(start: bytes, drop: bytes) -> Handler:
    def handle(connection: socket.socket, request: dict[str, Any]) -> None:
        connection.sendall(start)
        while not FOREVER.wait(0.01):
            connection.sendall(drop)

    return handle


def endless(start: bytes, piece: bytes) -> Handler:
    def handle(connection: socket.socket, request: dict[str, Any]) -> None:
        connection.sendall(start)
        while True:
            connection.sendall(piece)

    return handle


def reset(connection: socket.socket, request: dict[str, Any]) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(connection.detach())


def half(data: bytes) -> Handler:
    def handle(connection: socket.socket, request: dict[str, Any]) -> None:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_RDWR)
        connection.close()

    return handle


BOMB = gzip.compress(b'{"move": "' + b" " * 1_000_000 + b'"}')
HALF_BODY = answer(b'{"move": ', length=400)
TRICKLE = b"HTTP/1.1 200 OK\r\nX-Drip: "
# name -> (how it answers POST /move, the fault that must result)
WAYS: dict[str, tuple[Handler, str]] = {
    "hang": (hang, "timeout"),
    "drip-headers": (drips(TRICKLE, b"x"), "timeout"),
    "drip-many-headers": (drips(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"), "timeout"),
    "drip-body": (drips(answer(b"", length=60_000), b" "), "timeout"),
    "drip-continue": (drips(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "timeout"),
    "drip-chunks": (
        drips(answer(b"", "Transfer-Encoding: chunked", length=-1), b"1\r\n \r\n"),
        "timeout",
    ),
    "endless": (endless(answer(b"", length=-1), b" " * 4096), "invalid"),
    "endless-chunks": (
        endless(answer(b"", "Transfer-Encoding: chunked", length=-1), b"1\r\n \r\n" * 999),
        "invalid",
    ),
    "endless-headers": (endless(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n" * 999), "invalid"),
    "endless-header": (endless(TRICKLE, b"x" * 4096), "invalid"),
    "huge": (says(b'{"move": "pass", "x": "' + b"x" * 70_000 + b'"}'), "invalid"),
    "huge-announced": (sends(answer(b"", length=10**12)), "invalid"),
    "gzip-bomb": (sends(answer(BOMB, "Content-Encoding: gzip")), "invalid"),
    "deep": (says("[" * 60_000), "invalid"),
    "deep-object": (says('{"move":' * 8_000), "invalid"),
    "redirect": (
        sends(answer(b"", "Location: http://127.0.0.1:1/move", status="302 Found")),
        "invalid",
    ),
    "error-500": (
        sends(answer(b'{"move": "pass"}', status="500 Internal Server Error")),
        "invalid",
    ),
    "no-content": (sends(b"HTTP/1.1 204 No Content\r\n\r\n"), "invalid"),
    "upgrade": (sends(b"HTTP/1.1 101 Switching Protocols\r\n\r\n"), "invalid"),
    "not-http": (half(b"SSH-2.0-OpenSSH_9.2\r\n"), "invalid"),
    "not-json": (says("I pass."), "invalid"),
    "not-utf8": (says(b'{"move": "\xff\xfe"}'), "invalid"),
    "utf16": (says('{"move": "pass"}'.encode("utf-16")), "invalid"),
    "nan": (says('{"move": NaN}'), "invalid"),
    "infinity-beside": (says('{"move": "pass", "score": Infinity}'), "invalid"),
    "huge-number": (says('{"move": ' + "9" * 6000 + "}"), "invalid"),
    "null": (says("null"), "invalid"),
    "null-move": (says('{"move": null}'), "invalid"),
    "list": (says('["pass"]'), "invalid"),
    "no-move": (says('{"mvoe": "pass"}'), "invalid"),
    "two-moves": (says('{"move": "pass", "why": [], "move": "bid:1"}'), "invalid"),
    "same-move-twice": (says('{"move": "pass", "move": "pass"}'), "invalid"),
    "empty": (says(""), "invalid"),
    "empty-move": (says('{"move": ""}'), "illegal"),
    "illegal": (says('{"move": "play:3s3h3d3c"}'), "illegal"),
    "control": (says('{"move": "pass\\u0000\\u001b[2J\\r\\n"}'), "illegal"),
    "raw-control": (says(b'{"move": "pass\x00\x1b"}'), "invalid"),
    "surrogate": (says('{"move": "\\ud800"}'), "illegal"),
    "long-move": (says(json.dumps({"move": "play:" + "3s" * 30_000})), "illegal"),
    "reset": (reset, "unreachable"),
    "half-body": (half(HALF_BODY), "unreachable"),
    "half-headers": (half(b"HTTP/1.1 200 OK\r\nContent-Le"), "unreachable"),
    "half-chunks": (
        half(answer(b"ff\r\nabc", "Transfer-Encoding: chunked", length=-1)),
        "unreachable",
    ),
    "closes": (half(b""), "unreachable"),
}
