"""A ladder and its connected bots on a real Dask cluster, whose worker and runner are killed."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from stich.processes import find_port
from tests.support.connecting import HONEST, LADDER, ended
from tests.support.cups import bot, events, started, succeed
from tests.support.dask import Cluster, cluster
from tournament.store.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.serial]


def arena(dask: Cluster, cup: Path, ports: tuple[int, int]) -> subprocess.Popen[str]:
    where = ("--port", ports[0], "--connect-port", ports[1], "--cluster", dask.address)
    return started("arena", cup, "--out", cup.parent / "run", *where, "--exit", "--json")


def until(seen: Iterator[dict[str, Any]], kind: str, text: str) -> None:
    """Read events up to one of this kind with this text."""
    next(event for event in seen if event["event"] == kind and text in json.dumps(event))


def test_a_ladder_goes_on_after_its_worker_or_runner_is_killed(tmp_path: Path) -> None:
    ports = find_port("127.0.0.1", 0), find_port("127.0.0.1", 0)
    ladder, run = tmp_path / "ladder.toml", tmp_path / "run"
    house = [f'[[bots]]\nname = "{name}"\ncommand = "{bot(name)}"\n' for name in HONEST[1:]]
    ladder.write_text(LADDER + "".join(house))
    words = (f"http://127.0.0.1:{ports[0]}", "ann", bot(HONEST[0]), "--no-sandbox")
    with ExitStack() as stack:
        dask = stack.enter_context(cluster(tmp_path))
        one = dask.start_worker("one")
        stack.enter_context(ended(served := arena(dask, ladder, ports)))
        until(events(served), "begin", "")
        # The house bots do not suffice for a table, so Ann's program finds the ladder waiting.
        program = started("join", *words, XDG_STATE_HOME=str(tmp_path / "ann"))
        stack.enter_context(ended(program))
        until(events(served), "match", "ann")
        one.kill()
        until(events(served), "notice", "No worker is left; the run waits for one.")
        dask.start_worker("two")
        until(events(served), "match", "ann")
        served.kill()
        served.communicate()
        with Store.open(run) as store:
            before = store.count()
        stack.enter_context(ended(again := arena(dask, ladder, ports)))
        seen = events(again)
        until(seen, "match", "ann")
        succeed("finish", run, "--yes")
        *_, last = seen
    assert last["event"] == "finished"
    with Store.open(run) as store:
        assert store.count() > before
        assert not list(store.faults())
        assert all(block.played == block.seatings for block in store.blocks())
    succeed("verify", run)
