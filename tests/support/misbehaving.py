"""Bots that conform to the protocol except in one way."""

import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from tools import hostile

Act = Callable[["Call"], None]


@dataclass
class Call:
    """One request to the bot, and the socket that it came over."""

    sock: socket.socket
    method: str
    path: str
    body: bytes

    def send(self, body: bytes, status: str = "200 OK", *headers: str) -> None:
        """A complete answer."""
        self.sock.sendall(hostile.answer(body, *headers, status=status))

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


def only(act: Act, *paths: str) -> Act:
    """A bot that misbehaves only at these paths."""
    return lambda call: act(call) if call.path in paths else honest(call)


def only_move(act: Act) -> Act:
    """A bot that misbehaves only at POST /move."""
    return only(act, "/move")


def says(body: bytes, status: str = "200 OK", *headers: str) -> Act:
    """A bot that always answers the same."""
    return only_move(lambda call: call.send(body, status, *headers))


def hang(call: Call) -> None:
    """Never answers."""
    hostile.hang(call.sock, {})


def way(name: str) -> Act:
    """A bot that answers POST /move in this hostile way."""
    return only_move(lambda call: hostile.WAYS[name][0](call.sock, json.loads(call.body)))


def dies() -> Act:
    """Stops responding from the twentieth request on."""
    asked = count()
    return only_move(lambda call: close_connection(call) if next(asked) > 20 else honest(call))


WAYS = (
    *("hang", "drip-body", "endless", "huge", "gzip-bomb", "deep", "redirect", "error-500"),
    *("not-json", "not-utf8", "nan", "null", "list", "empty", "no-move", "two-moves", "null-move"),
    *("illegal", "control", "raw-control", "not-http", "reset", "half-body"),
)
MISBEHAVING: dict[str, Act] = {
    **{name: way(name) for name in WAYS},
    "404": says(b"{}", "404 Not Found"),
    "no grammar": says(b'{"move": "Pass "}'),
    "dies mid-game": dies(),
}


@contextmanager
def running(act: Act) -> Iterator[str]:
    """The URL of such a bot, running in this process."""
    with hostile.running(hostile.first, every=lambda *request: act(Call(*request))) as url:
        yield url
