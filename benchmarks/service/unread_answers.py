"""What an honest client notices while others ask for the largest answers and read none of them."""

from __future__ import annotations

import json
import random
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import games
from benchmarks import ROOT
from benchmarks.figures import Figure, Section

REQUESTS = 150
SECONDS = 5.0
P99_AIM_MS = 250
MEMORY_AIM_MB = 500
QUADS = [rank + suit for rank in "3456" for suit in "cdhs"]
CARDS = [rank + suit for rank in "3456789T" for suit in "cdhs"]
HANDS = {
    "31,122 moves": [[*QUADS, "Bj", "Rj"], ["7c"], ["7d"]],
    "34 cards": [[*CARDS, "Bj", "Rj"], ["Jc"], ["Jd"]],
}
"""The longest list of a hand that can be dealt, and a hand that is refused once it is counted."""


@contextmanager
def service() -> Iterator[tuple[int, int]]:
    """`stich serve` with one worker; yields its port and the process of the worker."""
    command = [sys.executable, "-m", "stich", "serve", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            found = re.search(r":(\d+) ", process.stdout.readline())
            assert found
            port = int(found[1])
            for _ in range(200):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            honest(port, 0.5)
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            yield port, max(map(int, children), key=memory)
        finally:
            process.terminate()


def memory(process: int) -> int:
    """The resident memory of a process in bytes."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * 4096


def honest(port: int, seconds: float) -> list[float]:
    """The milliseconds that a client waits for lists of moves and health checks, one at a time."""
    body = json.dumps({"state": games.get("doudizhu").start(3, "honest", {}).to_dict()})
    headers = {"Content-Type": "application/json"}
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    waits = []
    end = time.perf_counter() + seconds
    pause = random.Random(1)
    while time.perf_counter() < end:
        for request in (("POST", "/v1/moves", body, headers), ("GET", "/healthz")):
            began = time.perf_counter()
            connection.request(*request)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200
            waits.append((time.perf_counter() - began) * 1000)
            time.sleep(pause.uniform(0, 0.01))
    connection.close()
    return waits


def p99(waits: list[float]) -> float:
    """The 99th percentile."""
    return sorted(waits)[len(waits) * 99 // 100]


def attack(port: int, hands: list[list[str]], opened: ExitStack) -> None:
    """Ask for the moves of a position, again and again, on a connection each; read nothing."""
    state = games.get("zhengfen").start(3, "unread", {}).to_dict()
    state |= {"hands": hands, "turn": 0, "first": 0}
    body = json.dumps({"state": state}).encode()
    head = "POST /v1/moves HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    for _ in range(REQUESTS):
        one = opened.enter_context(socket.socket())
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.connect(("127.0.0.1", port))
        one.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)


def sections() -> list[Section]:
    """The honest client's p99 and the service's memory, with and without the attack."""
    figures = []
    for name, hands in HANDS.items():
        with service() as (port, worker), ExitStack() as opened:
            quiet = p99(honest(port, SECONDS))
            before = memory(worker)
            threading.Thread(target=attack, args=(port, hands, opened)).start()
            busy = p99(honest(port, SECONDS))
            grown = (memory(worker) - before) / 1e6
        what = f"{REQUESTS} × {name}: p99 of an honest client"
        figures += [
            Figure(what, busy, "limit", P99_AIM_MS, "ms", P99_AIM_MS / busy, 1),
            Figure(what, busy, "the same, no attack", quiet, "ms", quiet / busy),
            Figure(
                f"{REQUESTS} × {name}: memory",
                grown,
                "limit",
                MEMORY_AIM_MB,
                "MB more",
                MEMORY_AIM_MB / max(grown, 1),
                1,
            ),
        ]
    return [
        Section(
            "Large answers that nobody reads",
            f"One worker of `stich serve`. {REQUESTS} connections each ask for the moves of a"
            " set-up Zheng Fen position at once, in half a kilobyte, and read no answer. Meanwhile"
            " one honest client asks for lists of moves and health checks for"
            f" {SECONDS:g} s. The peer is the same client just before.",
            figures,
        )
    ]
