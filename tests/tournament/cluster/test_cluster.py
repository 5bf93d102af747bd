"""Cups on a real Dask cluster have the same standings as on one machine, whatever happens."""

import itertools
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from distributed import LocalCluster

from tests.support.tournament import cups
from tests.support.tournament.cups import json_lines, standings, stich, succeed, toys, write
from tests.support.tournament.dask import Cluster
from tools import hostile
from tournament.store.store import Store

pytestmark = pytest.mark.serial

DEALS = 12


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("local")
    fresh = '[format] cards = "fresh"'  # as with a bot by URL
    succeed("run", write(folder, toys(4), fresh, deals=DEALS), "--out", folder / "run")
    return standings(folder / "run")


class GatedCup:
    """A cup of four toys, one of them by URL. All matches after the first block wait for a gate."""

    def __init__(self, folder: Path, dask: Cluster, gate: cups.Gate, url: str) -> None:
        self.alive = folder / "alive"
        self.alive.mkdir()
        self.dask = dask
        self.gate = gate
        self.out = folder / "run"
        bots = {**toys(4, str(self.alive)), "toy0": url}
        path = write(folder, bots, deals=DEALS, move_ms=600_000)
        self.words = ("run", path, "--out", self.out)
        self.on_cluster = (*self.words, "--cluster", dask.address)

    @contextmanager
    def run(self) -> Iterator[tuple[subprocess.Popen[str], Iterator[dict[str, Any]]]]:
        """Run the cup up to the gate. Yields the runner and its events."""
        with cups.started(*self.on_cluster, "--json") as runner:
            self.gate.wait()
            yield runner, cups.events(runner)

    def all_end(self) -> None:
        """Wait until no bot is left."""
        cups.all_end(int(note.name) for note in self.alive.iterdir())

    def check(self, local: dict[str, Any]) -> None:
        """Check that the run is the same as on one machine, and that no bot is left."""
        assert standings(self.out) == local
        succeed("verify", self.out)
        self.all_end()

    def played(self) -> int:
        with Store.open(self.out) as store:
            return store.count()


@pytest.fixture
def cup(tmp_path: Path, dask: Cluster) -> Iterator[GatedCup]:
    gate = cups.Gate(4)
    with hostile.running(gate.guard(hostile.toy("toy-0"))) as url:
        yield GatedCup(tmp_path, dask, gate, url)
        gate.open()


def notice(seen: Iterator[dict[str, Any]], text: str) -> None:
    """Read events up to a notice with this text."""
    next(event for event in seen if event["event"] == "notice" and text in event["text"])


def test_a_cluster_plays_a_whole_cup(tmp_path: Path, dask: Cluster) -> None:
    cup = write(tmp_path, toys(3), deals=2)
    succeed("run", cup, "--out", tmp_path / "local")
    other = tmp_path / "other" / "lz4-9.9.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Name: lz4\nVersion: 9.9\n")
    dask.start_worker("two", PYTHONPATH=str(other.parent))
    dask.start_worker("one")
    seen = json_lines("run", cup, "--out", tmp_path / "run", "--cluster", dask.address)
    notices = [event["text"] for event in seen if event["event"] == "notice"]
    assert {f"Worker {name} has joined, with 1 table." for name in ("one", "two")} <= {*notices}
    assert any("lz4" in text and "9.9" in text for text in notices)
    assert standings(tmp_path / "run") == standings(tmp_path / "local")


@pytest.mark.slow
def test_a_cluster_may_have_workers_only_while_there_is_work(tmp_path: Path) -> None:
    workers: dict[str, Any] = {"n_workers": 0, "threads_per_worker": 1, "resources": {"tables": 1}}
    place = {"dashboard_address": ":0", "local_directory": str(tmp_path / "dask")}
    with LocalCluster(**workers, **place, host="127.0.0.1") as cluster:
        cluster.adapt(minimum=0, maximum=1, interval="200ms", target_duration="1s")
        cup = write(tmp_path, toys(3), deals=2)
        succeed("run", cup, "--out", tmp_path / "run", "--cluster", cluster.scheduler_address)


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_worker_joins_late_and_another_is_lost_in_a_block(
    cup: GatedCup, local: dict[str, Any], how: signal.Signals
) -> None:
    one = cup.dask.start_worker("one")
    with cup.run() as (runner, seen):
        cup.dask.start_worker("two")
        notice(seen, "Worker two has joined, with 1 table.")
        os.kill(one.pid, how)
        lost = next(event for event in seen if event["event"] == "lost")
        cup.gate.open()
        rest = list(seen)
    assert runner.returncode == 0
    assert lost["why"] == "worker one has left the cluster"
    if how == signal.SIGSTOP:
        os.kill(one.pid, signal.SIGCONT)
    played = [e["match"] for e in rest if e["event"] == "match" and e["block"] == lost["block"]]
    assert len(set(played)) == len(played) == 3
    assert not [event for event in rest if event["event"] == "lost"]
    cup.check(local)


@pytest.mark.slow
def test_a_block_that_is_lost_twice_stops_the_run(cup: GatedCup) -> None:
    worker = cup.dask.start_worker("one")
    with cup.run() as (runner, seen):
        worker.kill()
        block = next(event["block"] for event in seen if event["event"] == "lost")
        notice(seen, "No worker is left; the run waits for one.")
        cup.gate.reached.clear()
        worker = cup.dask.start_worker("two")
        cup.gate.wait()
        worker.kill()
        _, errors = runner.communicate()
    assert runner.returncode == 1
    lost = f"Block {block} was lost twice, now because worker two "
    assert errors.splitlines()[-1].startswith(lost)
    assert cup.played() > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dies", "how", "code", "says"),
    [
        ("runner", signal.SIGKILL, -9, ""),
        ("runner", signal.SIGINT, 130, "Resume with the same command."),
        ("scheduler", signal.SIGKILL, 1, "The scheduler at "),
    ],
)
def test_a_cup_that_is_cut_short_continues_later(
    cup: GatedCup, local: dict[str, Any], dies: str, how: signal.Signals, code: int, says: str
) -> None:
    """A cup whose scheduler is gone continues on one machine."""
    for name in ("one", "two"):
        cup.dask.start_worker(name)
    with cup.run() as (runner, _):
        os.kill(runner.pid if dies == "runner" else cup.dask.scheduler.pid, how)
        _, errors = runner.communicate()
    assert (runner.returncode, "Traceback" in errors) == (code, False)
    assert says in errors
    cup.all_end()
    cup.gate.open()
    kept = cup.played()
    assert 0 < kept < local["matches"]
    done = succeed(*(cup.on_cluster if dies == "runner" else cup.words))
    assert f"{kept} of them done already" in done.stderr
    cup.check(local)


@pytest.mark.slow
def test_a_scheduler_killed_as_bots_start_is_named(dask: Cluster, tmp_path: Path) -> None:
    dask.start_worker("one")
    kills = f"sh -c 'kill -9 {dask.scheduler.pid}; sleep 600'"
    cup = write(tmp_path, {**toys(2), "kills": kills}, start_ms=60_000)
    done = stich("run", cup, "--out", tmp_path / "run", "--cluster", dask.address)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert done.stderr.splitlines()[-1].startswith(f"The scheduler at {dask.address} is gone.")


@pytest.mark.slow
def test_decisions_take_effect_on_the_workers(cup: GatedCup) -> None:
    def decided(kind: str) -> list[str]:
        """Read events up to a decision. Return the matches that ended before it."""
        before = itertools.takewhile(lambda event: event.get("decision") != kind, seen)
        return [event["match"] for event in before if event["event"] == "match"]

    for name in ("one", "two"):
        cup.dask.start_worker(name)
    with cup.run() as (runner, seen):
        succeed("pause", cup.out)
        decided("pause")
        cup.gate.open()
        succeed("withdraw", cup.out, "toy3", "--yes")
        decided("withdraw")  # is read once all tables have stopped
        succeed("resume", cup.out)
        assert decided("resume") == []
        rest = [event for event in seen if event["event"] == "match"]
    assert runner.returncode == 0
    assert not any("toy3" in event["seating"] for event in rest)
    with Store.open(cup.out) as store:
        matches = list(store.summaries())
    assert sum("toy3" not in match.table for match in matches) == 3 * DEALS
    assert rest[-1]["done"] == rest[-1]["total"] == len(matches)
    succeed("verify", cup.out)
    cup.all_end()


PRYING = """
import os, runpy, socket, sys

ports, path = {}
seen = [port for port in ports if socket.socket().connect_ex(("127.0.0.1", port)) == 0]
if any(files for place, _, files in os.walk(path) if not place.startswith(os.getcwd())):
    seen.append(path)
if seen:
    sys.exit(f"reached {{seen}}")
runpy.run_module("bots.greedy", run_name="__main__")
"""


@pytest.mark.slow
@cups.needs_sandbox
@pytest.mark.parametrize("sandbox", [True, False])
def test_a_bot_in_a_sandbox_reaches_neither_dask_nor_its_files(
    dask: Cluster, tmp_path: Path, sandbox: bool
) -> None:
    worker = dask.start_worker("one")
    address = next(line.split()[-1] for line in worker.log if "Start worker at" in line)
    ports = [int(place.removeprefix("tcp://127.0.0.1:")) for place in (dask.address, address)]
    files = str(dask.folder / "dask")
    (tmp_path / "prying").mkdir()
    (tmp_path / "prying" / "bot.py").write_text(PRYING.format((ports, files)))
    prying = {"command": "python bot.py", "dir": "prying"}
    cup = write(tmp_path, {**toys(2), "prying": prying}, deals=1, sandbox=sandbox)
    done = stich("run", cup, "--out", tmp_path / "run", "--cluster", dask.address)
    reached = f"reached {[*ports, files]}"
    assert (done.returncode, reached in done.stderr) == ((0, False) if sandbox else (1, True))
    assert "Warning: the bots run" not in done.stderr
