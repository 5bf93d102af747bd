"""Cups on a real Dask cluster: the same standings as on one machine, whatever happens to it."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from distributed import LocalCluster

from tests.support.cups import Gate, all_end, events, standings, started, stich, succeed, toys, write
from tests.support.dask import Cluster, cluster
from tools import hostile
from tournament.store.store import Store

pytestmark = pytest.mark.serial

DEALS = 12
FRESH = '[format] cards = "fresh"'  # as with the gate, which is a bot by URL


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The standings of the cup of four toys on one machine."""
    folder = tmp_path_factory.mktemp("local")
    done = stich("run", write(folder, toys(4), FRESH, deals=DEALS), "--out", folder / "run")
    assert done.returncode == 0, done.stderr
    return standings(folder / "run")


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Cluster]:
    with cluster(tmp_path) as running:
        yield running


@pytest.fixture
def gate() -> Iterator[Gate]:
    """One bot plays the matches of a whole block, and then makes everybody wait."""
    made = Gate(4)
    yield made
    made.open()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Where toys note their processes."""
    (tmp_path / "alive").mkdir()
    return tmp_path / "alive"


@pytest.fixture
def cup(tmp_path: Path, notes: Path) -> Path:
    """The cup whose bots note their processes."""
    return write(tmp_path, toys(4, str(notes)), FRESH, deals=DEALS)


@pytest.fixture
def gated(tmp_path: Path, notes: Path, gate: Gate) -> Iterator[Path]:
    """The same cup with a gate."""
    with hostile.running(gate.guard(hostile.toy("toy-0"))) as url:
        bots = {**toys(4, str(notes)), "toy0": url}
        yield write(tmp_path, bots, deals=DEALS, move_ms=600_000)


def check_whole(run: Path, local: dict[str, Any], notes: Path) -> None:
    """All is as on one machine, and nothing that was started is left."""
    assert standings(run) == local
    succeed("verify", run)
    with Store.open(run) as store:
        matches = [match.match for match in store.matches()]
        assert len(set(matches)) == len(matches) == local["matches"]
    all_end(int(note.name) for note in notes.iterdir())


def notice(told: Iterator[dict[str, Any]], text: str) -> None:
    """Read events up to this notice."""
    next(event for event in told if event["event"] == "notice" and text in event["text"])


def test_a_whole_cup(tmp_path: Path, dask: Cluster) -> None:
    cup = write(tmp_path, toys(3), deals=2)
    succeed("run", cup, "--out", tmp_path / "local")
    (tmp_path / "other" / "lz4-9.9.dist-info").mkdir(parents=True)
    (tmp_path / "other" / "lz4-9.9.dist-info" / "METADATA").write_text("Name: lz4\nVersion: 9.9\n")
    dask.start_worker("two", PYTHONPATH=str(tmp_path / "other"))
    dask.start_worker("one")
    done = succeed("run", cup, "--out", tmp_path / "run", "--cluster", dask.address, "--json")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    said = [event["text"] for event in told if event["event"] == "notice"]
    assert {f"Worker {name} has joined, with 1 table." for name in ("one", "two")} <= set(said)
    assert any("lz4" in text and "9.9" in text for text in said)
    assert standings(tmp_path / "run") == standings(tmp_path / "local")


@pytest.mark.slow
def test_a_cluster_that_has_workers_only_while_there_is_work(tmp_path: Path) -> None:
    with LocalCluster(
        n_workers=0,
        threads_per_worker=1,
        resources={"tables": 1},
        host="127.0.0.1",
        dashboard_address=None,
        local_directory=str(tmp_path / "dask"),
    ) as cluster:
        cluster.adapt(minimum=0, maximum=1, interval="200ms", target_duration="1s")
        cup = write(tmp_path, toys(3), deals=2)
        done = succeed("run", cup, "--out", tmp_path / "run", "--cluster", cluster.scheduler_address)


def test_a_variable_of_the_runner_reaches_the_bot_on_a_worker(
    tmp_path: Path, dask: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    dask.start_worker("one")
    monkeypatch.setenv("MY_KEY", "S3cret")
    command = f"sh -c 'test -n \"$MY_KEY\" && exec {sys.executable} -m bots.greedy'"
    bots: dict[str, Any] = {**toys(2), "needy": {"command": command, "env_from": ["MY_KEY"]}}
    done = succeed(
        "run", write(tmp_path, bots, deals=1), "--out", tmp_path / "run", "--cluster", dask.address
    )
    files = [file for file in (tmp_path / "run").rglob("*") if file.is_file()]
    assert all(b"S3cret" not in file.read_bytes() for file in files)


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_worker_joins_late_and_one_is_lost_in_mid_block(
    dask: Cluster,
    gated: Path,
    gate: Gate,
    notes: Path,
    local: dict[str, Any],
    how: signal.Signals,
) -> None:
    one = dask.start_worker("one")
    out = gated.parent / "run"
    with started("run", gated, "--out", out, "--cluster", dask.address, "--json") as runner:
        told = events(runner)
        gate.wait()
        dask.start_worker("two")
        notice(told, "Worker two has joined, with 1 table.")
        os.kill(one.pid, how)
        lost = next(event for event in told if event["event"] == "lost")
        gate.open()
        rest = list(told)
    assert runner.returncode == 0
    assert lost["why"] == "worker one has left the cluster"
    if how == signal.SIGSTOP:
        os.kill(one.pid, signal.SIGCONT)
    played = [e["match"] for e in rest if e["event"] == "match" and e["block"] == lost["block"]]
    assert len(set(played)) == len(played) == 3
    assert not [event for event in rest if event["event"] == "lost"]
    check_whole(out, local, notes)


@pytest.mark.slow
def test_a_block_that_is_lost_twice_stops_the_run(dask: Cluster, gated: Path, gate: Gate) -> None:
    out = gated.parent / "run"
    worker = dask.start_worker("one")
    with started("run", gated, "--out", out, "--cluster", dask.address, "--json") as runner:
        told = events(runner)
        gate.wait()
        worker.kill()
        block = next(event["block"] for event in told if event["event"] == "lost")
        notice(told, "No worker is left; the run waits for one.")
        gate.reached.clear()
        worker = dask.start_worker("two")
        gate.wait()
        worker.kill()
        _, errors = runner.communicate()
    assert runner.returncode == 1
    last = errors.splitlines()[-1]
    assert last.startswith(f"Block {block} was lost twice, now because worker two ")
    with Store.open(out) as store:
        assert store.count() > 0


@pytest.mark.slow
def test_the_runner_is_killed_and_started_again(
    dask: Cluster, gated: Path, gate: Gate, notes: Path, local: dict[str, Any]
) -> None:
    dask.start_worker("one")
    dask.start_worker("two")
    out = gated.parent / "run"
    runner = started("run", gated, "--out", out, "--cluster", dask.address, "--json")
    gate.wait()
    runner.kill()
    runner.communicate()
    all_end(int(note.name) for note in notes.iterdir())
    gate.open()
    with Store.open(out) as store:
        kept = store.count()
    assert 0 < kept < local["matches"]
    done = succeed("run", gated, "--out", out, "--cluster", dask.address)
    assert f"{kept} of them done already" in done.stderr
    check_whole(out, local, notes)


@pytest.mark.slow
def test_the_scheduler_is_gone_and_the_cup_ends_on_one_machine(
    dask: Cluster, gated: Path, gate: Gate, notes: Path, local: dict[str, Any]
) -> None:
    dask.start_worker("one")
    out = gated.parent / "run"
    with started("run", gated, "--out", out, "--cluster", dask.address, "--json") as runner:
        gate.wait()
        dask.scheduler.kill()
        _, errors = runner.communicate()
    assert runner.returncode == 1
    assert errors.splitlines()[-1].startswith(f"The scheduler at {dask.address} is gone.")
    gate.open()
    with Store.open(out) as store:
        assert 0 < store.count() < local["matches"]
    succeed("run", gated, "--out", out)
    check_whole(out, local, notes)


@pytest.mark.slow
def test_a_stop_ends_all_tables(dask: Cluster, gated: Path, gate: Gate, notes: Path) -> None:
    dask.start_worker("one")
    command = ("run", gated, "--out", gated.parent / "run", "--cluster", dask.address)
    with started(*command, "--json") as runner:
        gate.wait()
        runner.send_signal(signal.SIGINT)
        _, errors = runner.communicate()
    assert runner.returncode == 130
    assert "Resume with the same command." in errors
    assert "Traceback" not in errors
    all_end(int(note.name) for note in notes.iterdir())


@pytest.mark.slow
def test_pause_withdraw_and_void(dask: Cluster, gated: Path, gate: Gate, notes: Path) -> None:
    dask.start_worker("one")
    dask.start_worker("two")
    out = gated.parent / "run"
    with started("run", gated, "--out", out, "--cluster", dask.address, "--json") as runner:
        told = events(runner)
        gate.wait()
        succeed("pause", out)
        next(event for event in told if event["event"] == "decision")
        gate.open()
        with Store.open(out) as store:
            first = next(iter(store.summaries()))
            (gone,) = set(store.run().cup.names) - set(first.table)
        stich("withdraw", out, gone, "--yes")
        stich("void", out, first.match)
        stich("resume", out)
        list(told)
    assert runner.returncode == 0
    with Store.open(out) as store:
        assert store.run().finished
        assert sum(gone not in match.table for match in store.summaries()) == 3 * DEALS
        assert store.count() < 4 * 3 * DEALS
        assert all(block.played == block.seatings for block in store.blocks())
        here = [void.match for void in store.voids() if gone not in void.seating]
        assert here == [first.match]
        assert not list(store.faults())
    succeed("verify", out)
    all_end(int(note.name) for note in notes.iterdir())


PRYING = """
import os, runpy, socket, sys

addresses, path = {}, ""
seen = []
for address in addresses:
    host, port = address.removeprefix("tcp://").split(":")
    try:
        socket.create_connection((host, int(port)), 5).close()
        seen.append(address)
    except OSError:
        pass
if any(files for place, _, files in os.walk(path) if not place.startswith(os.getcwd())):
    seen.append(path)
if seen:
    sys.exit("reached " + " and ".join(seen))
runpy.run_module("bots.greedy", run_name="__main__")
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_a_bot_in_a_sandbox_reaches_neither_dask_nor_its_files(
    dask: Cluster, tmp_path: Path
) -> None:
    worker = dask.start_worker("one")
    address = next(line.split()[-1] for line in worker.log if "Start worker at" in line)
    folder = tmp_path / "prying"
    folder.mkdir()
    places = f"addresses, path = {[dask.address, address]}, {str(dask.folder / 'dask')!r}"
    (folder / "bot.py").write_text(PRYING.replace('addresses, path = {}, ""', places))

    def run(sandbox: bool) -> subprocess.CompletedProcess[str]:
        prying = {"command": "python bot.py", "dir": "prying"}
        cup = write(tmp_path, {**toys(2), "prying": prying}, deals=1, sandbox=sandbox)
        out = tmp_path / f"run-{sandbox}"
        return stich("run", cup, "--out", out, "--cluster", dask.address)

    done = run(sandbox=True)
    assert done.returncode == 0, done.stderr
    assert "Warning: the bots run" not in done.stderr
    done = run(sandbox=False)
    assert done.returncode == 1
    assert f"reached {dask.address} and {address} and {dask.folder}" in done.stderr
