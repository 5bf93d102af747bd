"""A ladder and its connected bots on a real Dask cluster, whose runner is killed."""

import json
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from stich.processes import find_port
from tests.support.tournament.cups import bot, events, started, succeed
from tests.support.tournament.dask import Cluster, cluster
from tests.support.web.connecting import HONEST, LADDER, ended
from tournament.store.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.serial]


def arena(dask: Cluster, cup: Path, ports: tuple[int, int]) -> subprocess.Popen[str]:
    where = ("--port", ports[0], "--connect-port", ports[1], "--cluster", dask.address)
    return started("arena", cup, "--out", cup.parent / "run", *where, "--exit", "--json")


def until(runner: subprocess.Popen[str], kind: str, text: str) -> None:
    """Read the events of a runner up to one of this kind with this text."""
    next(event for event in events(runner) if event["event"] == kind and text in json.dumps(event))


def test_a_ladder_goes_on_after_its_runner_is_killed(tmp_path: Path) -> None:
    ports = find_port("127.0.0.1", 0), find_port("127.0.0.1", 0)
    ladder, run = tmp_path / "ladder.toml", tmp_path / "run"
    house = [f'[[bots]]\nname = "{name}"\ncommand = "{bot(name)}"\n' for name in HONEST[1:]]
    ladder.write_text(LADDER + "".join(house))
    words = (f"http://127.0.0.1:{ports[0]}", "ann", bot(HONEST[0]), "--no-sandbox")
    with ExitStack() as stack:
        dask = stack.enter_context(cluster(tmp_path))
        dask.start_worker("one")
        stack.enter_context(ended(served := arena(dask, ladder, ports)))
        until(served, "begin", "")
        # The house bots do not suffice for a table, so Ann's program finds the ladder waiting.
        program = started("join", *words, XDG_STATE_HOME=str(tmp_path / "ann"))
        stack.enter_context(ended(program))
        until(served, "match", "ann")
        served.kill()
        served.communicate()
        with Store.open(run) as store:
            before = store.count()
        stack.enter_context(ended(again := arena(dask, ladder, ports)))
        until(again, "match", "ann")
        succeed("finish", run, "--yes")
        *_, last = events(again)
    assert last["event"] == "finished"
    with Store.open(run) as store:
        assert store.count() > before
        assert not any(match.faults for match in store.matches())
        assert all(block.played == block.seatings for block in store.blocks())
    succeed("verify", run)
