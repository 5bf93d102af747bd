"""Bots that conform to the protocol except in one way: raw sockets, one thread per connection."""

from __future__ import annotations

import gzip
import json
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Act = Callable[["Call"], None]


@dataclass
class Call:
    """One request to the bot, and the socket that it came over."""

    sock: socket.socket
    method: str
    path: str
    body: bytes
    asked: int
    stop: threading.Event

    def send(self, body: bytes, status: str = "200 OK", head: str = "") -> None:
        """A complete answer."""
        self.raw(
            f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n{head}\r\n".encode()
            + body
        )

    def raw(self, data: bytes) -> None:
        """Any bytes."""
        self.sock.sendall(data)

    def move(self) -> str:
        """A legal move."""
        moves: list[str] = json.loads(self.body)["moves"]
        return moves[0]


def honest(call: Call) -> None:
    """The answers of a bot that conforms to the protocol."""
    if call.path == "/":
        card = {"name": "misbehaving", "version": "1", "protocol": 1, "games": ["dasan"]}
        call.send(json.dumps(card).encode())
    elif call.path == "/move":
        call.send(json.dumps({"move": call.move()}).encode())
    else:
        call.send(b"{}")


def close_connection(call: Call) -> None:
    """Close at once: `close` alone waits for the stream that reads."""
    os.close(call.sock.detach())


def only_move(act: Act) -> Act:
    """A bot that misbehaves only at POST /move."""
    return lambda call: act(call) if call.path == "/move" else honest(call)


def says(body: bytes, status: str = "200 OK", head: str = "") -> Act:
    """A bot that always answers the same."""
    return only_move(lambda call: call.send(body, status, head))


def hang(call: Call) -> None:
    """Never answers."""
    call.stop.wait()


def drip(call: Call) -> None:
    """Sends one byte at a time, slowly."""
    for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + b" " * 1000:
        call.raw(bytes([byte]))
        if call.stop.wait(0.01):
            return


def endless(call: Call) -> None:
    """Sends chunks forever."""
    call.raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not call.stop.is_set():
        call.raw(b"1000\r\n" + b" " * 4096 + b"\r\n")


def reset(call: Call) -> None:
    """Resets the connection."""
    call.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    close_connection(call)


def half(call: Call) -> None:
    """Closes in the middle of the answer."""
    call.raw(b'HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n{"move":')
    close_connection(call)


def dies(call: Call) -> None:
    """Stops responding from the twentieth request on."""
    if call.asked > 20:
        close_connection(call)
    else:
        honest(call)


def lazy_network(call: Call) -> None:
    """Answers late over reused connections, like a server without TCP_NODELAY."""
    if call.asked > 1 and call.path == "/move":
        call.stop.wait(0.04)
    honest(call)


BOMB = gzip.compress(b"0" * 10_000_000)
MISBEHAVING: dict[str, Act] = {
    "hang": only_move(hang),
    "drip": only_move(drip),
    "endless": only_move(endless),
    "huge": says(b'{"move": "pass", "why": "' + b"x" * 70_000 + b'"}'),
    "gzip bomb": says(BOMB, head="Content-Encoding: gzip\r\n"),
    "deep nesting": says(b"[" * 30_000 + b"]" * 30_000),
    "redirect": says(b"", "302 Found", "Location: /move/\r\n"),
    "500": says(b'{"error": "oops"}', "500 Internal Server Error"),
    "404": says(b"{}", "404 Not Found"),
    "not JSON": says(b"<html>pass</html>"),
    "not UTF-8": says(b'{"move": "p\xe4ss"}'),
    "NaN": says(b'{"move": NaN}'),
    "null": says(b"null"),
    "list": says(b'["pass"]'),
    "empty": says(b""),
    "no move": says(b'{"play": "pass"}'),
    "two moves": only_move(
        lambda call: call.send(f'{{"move": "pass", "move": "{call.move()}"}}'.encode())
    ),
    "move is null": says(b'{"move": null}'),
    "illegal": says(b'{"move": "play:3c3d3h3s"}'),
    "no grammar": says(b'{"move": "Pass "}'),
    "control characters": says(b'{"move": "\\u0000\\u001b[31m\\r\\n"}'),
    "raw control characters": says(b'{"move": "pass\x1b[2J"}'),
    "no HTTP": only_move(lambda call: call.raw(b"pass\r\n\r\n" * 10)),
    "reset": only_move(reset),
    "half answer": only_move(half),
    "dies mid-game": only_move(dies),
}


@dataclass
class Server:
    """A server of one bot, which listens at `url`."""

    act: Act
    stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.total = 0
        self.accepting = threading.Thread(target=self.accept, daemon=True)
        self.accepting.start()

    def accept(self) -> None:
        with suppress(OSError):
            while True:
                sock, _ = self.listener.accept()
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.serve, args=[sock], daemon=True).start()

    def serve(self, sock: socket.socket) -> None:
        with suppress(OSError, ValueError), sock, sock.makefile("rb") as stream:
            asked = 0
            while line := stream.readline():
                method, path, _ = line.decode("ascii").split()
                size = 0
                while (header := stream.readline().strip().lower()) != b"":
                    name, _, value = header.partition(b":")
                    size = int(value) if name == b"content-length" else size
                body = stream.read(size)
                asked += 1
                self.total += path == "/move"
                count = self.total if self.act is MISBEHAVING["dies mid-game"] else asked
                self.act(Call(sock, method, path, body, count, self.stop))


@contextmanager
def running(act: Act) -> Iterator[str]:
    """The URL of such a bot, running in this process."""
    server = Server(act)
    try:
        yield server.url
    finally:
        server.stop.set()
        server.listener.shutdown(socket.SHUT_RDWR)  # wakes `accept`
        server.accepting.join()
        server.listener.close()
