"""Tables that wait for bots by URL, and the processes that they share."""

import json
import multiprocessing
import socket
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.support.cups import succeed, write
from tools import hostile


def test_tables_that_wait_for_bots_by_url_share_processes(tmp_path: Path) -> None:
    """A process is killed while all tables wait. Its blocks are played again."""
    workers: list[int] = []

    def kill_one() -> None:
        running = multiprocessing.active_children()
        workers.append(len(running))
        running[0].kill()

    all_wait = threading.Barrier(12, kill_one)

    def slow(handle: hostile.Handler) -> hostile.Handler:
        def answer(connection: socket.socket, request: dict[str, Any]) -> None:
            if not workers:
                all_wait.wait()
            handle(connection, request)

        return answer

    with ExitStack() as stack:
        toys = [slow(hostile.toy(f"toy{i}")) for i in range(3)]
        bots = {f"toy{i}": stack.enter_context(hostile.running(toy)) for i, toy in enumerate(toys)}
        cup = write(tmp_path, bots, deals=12, move_ms=60_000, concurrency=12)
        cup.write_text(cup.read_text().replace("\nurl", "\nmax_matches = 12\nurl"))
        done = succeed("run", cup, "--out", tmp_path / "run", "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert workers[0] <= 6
    assert any(event["event"] == "lost" for event in events)
    assert events[-1]["matches"] == 36
    succeed("verify", tmp_path / "run")
