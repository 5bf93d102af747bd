"""Bots that connect, and a ladder, played by the workers of a real Dask cluster."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stich.processes import find_port
from tests.support.connecting import HONEST, LADDER, connect, differing, ended, started_here, write
from tests.support.cups import bot, events, started, stich, succeed
from tests.support.dask import Cluster, cluster
from tournament.store.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.serial]


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Cluster]:
    with cluster(tmp_path) as running:
        yield running


def arena(dask: Cluster, cup: Path, ports: tuple[int, int]) -> subprocess.Popen[str]:
    where = ("--port", ports[0], "--connect-port", ports[1], "--cluster", dask.address)
    return started("arena", cup, "--out", cup.parent / "run", *where, "--exit", "--json")


def until(seen: Iterator[dict[str, Any]], kind: str, text: str) -> None:
    """Read events up to one of this kind with this text."""
    next(event for event in seen if event["event"] == kind and text in json.dumps(event))


def test_a_cup_of_bots_that_connect(tmp_path: Path, dask: Cluster) -> None:
    """The results are those of one machine, though a worker is killed and another joins late."""
    one, _ = dask.start_worker("one"), dask.start_worker("two")
    ports = find_port("127.0.0.1", 0), find_port("127.0.0.1", 0)
    cup = write(tmp_path, deals=4)
    with ended(served := arena(dask, cup, ports)):
        seen = events(served)
        programs = [connect(cup, name, ports[0], "--tables", "2") for name in HONEST]
        with ended(*programs):
            until(seen, "match", "")
            one.kill()
            until(seen, "notice", "Worker one has left the cluster.")
            dask.start_worker("three")
            *_, last = seen
            assert last["event"] == "finished"
    assert not differing(tmp_path / "run", started_here(tmp_path, 4))


def test_a_ladder_whose_worker_and_whose_runner_are_killed(tmp_path: Path, dask: Cluster) -> None:
    one = dask.start_worker("one")
    ports = find_port("127.0.0.1", 0), find_port("127.0.0.1", 0)
    ladder = tmp_path / "ladder.toml"
    house = [f'[[bots]]\nname = "{name}"\ncommand = "{bot(name)}"\n' for name in HONEST[1:]]
    ladder.write_text(LADDER + "".join(house))
    with ended(served := arena(dask, ladder, ports)):
        # The house bots do not suffice for a table, so Ann's program finds the ladder waiting.
        url = f"http://127.0.0.1:{ports[0]}"
        until(events(served), "begin", "")
        words = (url, "ann", bot(HONEST[0]), "--no-sandbox")
        with ended(started("join", *words, XDG_STATE_HOME=str(tmp_path / "ann"))):
            until(events(served), "match", "ann")
            one.kill()
            until(events(served), "notice", "No worker is left; the run waits for one.")
            dask.start_worker("two")
            until(events(served), "match", "ann")
            served.kill()
            served.communicate()
            with Store.open(tmp_path / "run") as store:
                before = store.count()
            with ended(again := arena(dask, ladder, ports)):
                seen = events(again)
                until(seen, "match", "ann")
                succeed("finish", tmp_path / "run", "--yes")
                *_, last = seen
                assert last["event"] == "finished"
    with Store.open(tmp_path / "run") as store:
        assert store.count() > before
        assert not list(store.faults())
        assert all(block.played == block.seatings for block in store.blocks())
    verified = stich("verify", tmp_path / "run")
    assert verified.returncode == 0, verified.stdout
