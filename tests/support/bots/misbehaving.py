"""Bots that conform to the protocol except in one way."""

import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from tools import hostile
from tournament.bot.protocol import Choice

Act = Callable[["Call"], None]

REQUEST = json.dumps({"turn": 1, "match": "m", "moves": ["pass"], "view": {"hand": []}}).encode()
"""The body of a request for a move that has only one answer."""


@dataclass
class Call:
    sock: socket.socket
    method: str
    path: str
    body: bytes

    def send(self, body: bytes, status: str = "200 OK", *headers: str) -> None:
        self.sock.sendall(hostile.answer(body, *headers, status=status))

    def move(self) -> str:
        return str(json.loads(self.body)["moves"][0])


def honest(call: Call) -> None:
    """Answer as a bot that conforms to the protocol."""
    if call.path == "/":
        card = {"name": "misbehaving", "version": "1", "protocol": 1, "games": ["dasan"]}
        call.send(json.dumps(card).encode())
    elif call.path == "/move":
        call.send(json.dumps({"move": call.move()}).encode())
    else:
        call.send(b"{}")


def close_connection(call: Call) -> None:
    """Close the connection at once. `close` alone would wait for the stream that reads from it."""
    os.close(call.sock.detach())


def only(act: Act, *paths: str) -> Act:
    return lambda call: act(call) if call.path in paths else honest(call)


def only_move(act: Act) -> Act:
    return only(act, "/move")


def says(body: bytes, status: str = "200 OK", *headers: str) -> Act:
    return only_move(lambda call: call.send(body, status, *headers))


def way(name: str) -> Act:
    return only_move(lambda call: hostile.WAYS[name][0](call.sock, json.loads(call.body)))


def dies() -> Act:
    """A bot that stops responding after twenty requests for a move."""
    asked = count()
    return only_move(lambda call: close_connection(call) if next(asked) > 20 else honest(call))


@contextmanager
def running(act: Act) -> Iterator[str]:
    """Run a misbehaving bot in this process. Yields its URL."""
    with hostile.running(hostile.first, every=lambda *request: act(Call(*request))) as url:
        yield url


def moves(handle: hostile.Handler, times: int = 1) -> list[str]:
    """The answers of a bot that is asked this many times: its move, or why there is none."""
    with hostile.connected(handle) as bot:
        outcomes = [bot.move(REQUEST, 60) for _ in range(times)]
    return [outcome.move if isinstance(outcome, Choice) else outcome.detail for outcome in outcomes]
