"""Cups on a real Dask cluster: the same standings as on one machine, whatever happens to it."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tournament import postgres
from tests.tournament.cluster.dask import Cluster, cluster
from tests.tournament.cups import (
    all_end,
    events,
    served_toys,
    standings,
    started,
    stich,
    toys,
    write,
)
from tournament.store.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.serial]

DEALS = 12


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The standings of the cup of four toys on one machine."""
    folder = tmp_path_factory.mktemp("local")
    done = stich("run", write(folder, toys(4), deals=DEALS), "--out", folder / "run")
    assert done.returncode == 0, done.stderr
    return standings(folder / "run")


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Cluster]:
    with cluster(tmp_path) as running:
        yield running


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Where toys note their processes."""
    (tmp_path / "alive").mkdir()
    return tmp_path / "alive"


@pytest.fixture
def cup(tmp_path: Path, notes: Path) -> Path:
    """The same cup, whose bots note their processes."""
    return write(tmp_path, toys(4, str(notes)), deals=DEALS, sandbox=False)


def check_whole(run: Path, local: dict[str, Any], notes: Path) -> None:
    """All is as on one machine, and nothing that was started is left."""
    assert standings(run) == local
    assert stich("verify", run).returncode == 0
    with Store.open(run) as store:
        matches = [match.match for match in store.matches()]
        assert len(set(matches)) == len(matches) == local["matches"]
    all_end(int(note.name) for note in notes.iterdir())


def test_a_whole_cup(dask: Cluster, cup: Path, notes: Path, local: dict[str, Any]) -> None:
    dask.workers("one", "two", tables=2)
    done = stich("run", cup, "--out", cup.parent / "run", "--cluster", dask.address, "--json")
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    said = [event["text"] for event in told if event["event"] == "notice"]
    for name in ("one", "two"):
        assert f"Worker {name} has joined, with 2 tables." in said
        assert any(line.startswith(f"Worker {name}: Warning: the bots run") for line in said)
    assert not [event for event in told if event["event"] == "lost"]
    check_whole(cup.parent / "run", local, notes)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_worker_that_dies_or_is_stopped_in_mid_block(
    dask: Cluster, cup: Path, notes: Path, local: dict[str, Any], how: signal.Signals
) -> None:
    one, _ = dask.workers("one", "two")
    out = cup.parent / "run"
    with started("run", cup, "--out", out, "--cluster", dask.address, "--json") as runner:
        told = events(runner)
        next(event for event in told if event["event"] == "match")
        os.kill(one.pid, how)
        rest = list(told)
    assert runner.returncode == 0
    lost = [event for event in rest if event["event"] == "lost"]
    assert len(lost) == 1
    assert lost[0]["why"].startswith("worker one ")
    if how == signal.SIGSTOP:
        assert lost[0]["why"] == "worker one has been silent for 15 s"
        os.kill(one.pid, signal.SIGCONT)
    again = {e["match"] for e in rest if e["event"] == "match" and e["block"] == lost[0]["block"]}
    assert len(again) == 3
    check_whole(out, local, notes)


def test_a_worker_that_joins_late(
    dask: Cluster, cup: Path, notes: Path, local: dict[str, Any]
) -> None:
    dask.workers("one")
    out = cup.parent / "run"
    with started("run", cup, "--out", out, "--cluster", dask.address, "--json") as runner:
        told = events(runner)
        next(event for event in told if event["event"] == "match")
        late = dask.start_worker("late")
        rest = list(told)
    assert runner.returncode == 0
    assert late.log
    check_whole(out, local, notes)
    notices = [event["text"] for event in rest if event["event"] == "notice"]
    assert "Worker late has joined, with 1 table." in notices


def test_the_runner_is_killed_and_started_again(
    dask: Cluster, cup: Path, notes: Path, local: dict[str, Any]
) -> None:
    dask.workers("one", "two")
    out = cup.parent / "run"
    runner = started("run", cup, "--out", out, "--cluster", dask.address, "--json")
    next(event for event in events(runner) if event["event"] == "match")
    runner.kill()
    runner.communicate()
    with Store.open(out) as store:
        kept = store.count()
    assert 0 < kept < local["matches"]
    done = stich("run", cup, "--out", out, "--cluster", dask.address)
    assert done.returncode == 0, done.stderr
    assert f"{kept} of them done already" in done.stderr
    check_whole(out, local, notes)


def test_the_scheduler_is_gone_and_the_cup_ends_on_one_machine(
    dask: Cluster, cup: Path, notes: Path, local: dict[str, Any]
) -> None:
    dask.workers("one")
    out = cup.parent / "run"
    with started("run", cup, "--out", out, "--cluster", dask.address, "--json") as runner:
        next(event for event in events(runner) if event["event"] == "match")
        dask.scheduler.kill()
        _, errors = runner.communicate()
    assert runner.returncode == 1
    assert errors.splitlines()[-1].startswith(f"The scheduler at {dask.address} is gone. What is")
    with Store.open(out) as store:
        assert 0 < store.count() < local["matches"]
    assert stich("run", cup, "--out", out).returncode == 0
    check_whole(out, local, notes)


def test_the_last_worker_leaves(
    dask: Cluster, cup: Path, notes: Path, local: dict[str, Any]
) -> None:
    """The run waits, and another worker goes on."""
    (one,) = dask.workers("one")
    out = cup.parent / "run"
    with started("run", cup, "--out", out, "--cluster", dask.address, "--json") as runner:
        told = events(runner)
        next(event for event in told if event["event"] == "match")
        one.kill()
        next(e for e in told if e["event"] == "notice" and "No worker is left" in e["text"])
        dask.start_worker("two")
        list(told)
    assert runner.returncode == 0
    check_whole(out, local, notes)


def test_a_stop_ends_all_tables(dask: Cluster, cup: Path, notes: Path) -> None:
    dask.workers("one")
    command = ("run", cup, "--out", cup.parent / "run", "--cluster", dask.address)
    with started(*command, "--json") as runner:
        next(event for event in events(runner) if event["event"] == "match")
        runner.send_signal(signal.SIGINT)
        _, errors = runner.communicate()
    assert runner.returncode == 130
    assert f"--cluster {dask.address}" in errors
    assert "Traceback" not in errors
    all_end(int(note.name) for note in notes.iterdir())


def test_pause_withdraw_and_void(dask: Cluster, tmp_path: Path) -> None:
    dask.workers("one", "two")
    out = tmp_path / "run"
    with served_toys(4) as bots:
        cup = write(tmp_path, bots, deals=4)
        runner = started("run", cup, "--out", out, "--cluster", dask.address, "--json")
        told = events(runner)
        next(event for event in told if event["event"] == "match")
        assert stich("pause", out).returncode == 0
        next(event for event in told if event["event"] == "decision")
        with Store.open(out) as store:
            assert 0 < store.count() < 48
            first = next(iter(store.summaries()))
        stich("withdraw", out, "toy3")
        stich("resume", out)
        stich("void", out, first.match)
        with runner:
            list(told)
        assert runner.returncode == 0
    with Store.open(out) as store:
        assert store.get("finished")
        assert sum("toy3" not in match.table for match in store.summaries()) == 12
        assert [void.match for void in store.voids()] == [first.match]
        assert not list(store.faults())
    assert stich("verify", out).returncode == 0


@pytest.mark.skipif(postgres.programs() is None, reason="PostgreSQL is not installed")
def test_a_cup_in_postgresql(
    dask: Cluster, cup: Path, notes: Path, local: dict[str, Any], tmp_path: Path
) -> None:
    dask.workers("one", "two")
    where = postgres.programs()
    assert where is not None
    with postgres.server(where) as url:
        done = stich("run", cup, "--store", url, "--cluster", dask.address)
        assert done.returncode == 0, done.stderr
        assert standings(url) == local
    all_end(int(note.name) for note in notes.iterdir())
