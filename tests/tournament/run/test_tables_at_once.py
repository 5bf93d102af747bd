"""How many tables are played at once, and by how many processes."""

import json
import multiprocessing
import socket
import threading
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.tournament import hostile
from tests.tournament.cups import stich, write
from tournament.config import Bot, Cup, Format, Run
from tournament.run.local_executor import tables_at_once


def seated(url: str | None, players: int, bots: int, **run: int) -> Cup:
    seats = tuple(Bot(f"b{at}", command="x") for at in range(1, bots))
    first = Bot("b0", url=url, max_matches=2) if url else Bot("b0", command="x")
    return Cup("c", "doudizhu", players, (first, *seats), run=Run(concurrency=run["concurrency"]))


def test_a_bot_by_url_that_sits_everywhere_bounds_the_tables() -> None:
    url = "http://127.0.0.1:1"
    assert tables_at_once(seated(None, 3, 5, concurrency=8), 10) == 8
    assert tables_at_once(seated(None, 3, 5, concurrency=8), 3) == 3
    assert tables_at_once(seated(url, 3, 5, concurrency=8), 10) == 8
    assert tables_at_once(seated(url, 3, 3, concurrency=8), 10) == 2
    gauntlet = Format(type="gauntlet", challenger="b0")
    assert tables_at_once(replace(seated(url, 3, 5, concurrency=8), format=gauntlet), 10) == 2


def test_tables_that_wait_for_bots_by_url_share_processes(tmp_path: Path) -> None:
    """The blocks of a process that is killed while all tables wait are played again."""
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
        done = stich("run", cup, "--out", tmp_path / "run", "--json")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert workers[0] <= 6
    assert any(event["event"] == "lost" for event in events)
    assert events[-1]["matches"] == 36
    assert stich("verify", tmp_path / "run").returncode == 0
