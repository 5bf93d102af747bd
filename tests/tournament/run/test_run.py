"""Whatever happens to the runner, the standings are the same."""

import multiprocessing
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.support.tournament import cups
from tests.support.tournament.cups import bot, json_lines, standings, stich, succeed, toys, write
from tools import hostile
from tournament.records import FaultKind
from tournament.store.store import Store


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("uninterrupted")
    cup = write(folder, toys(4), deals=1, concurrency=1)
    assert "toy0" in succeed("run", cup, "--out", folder / "run").stdout
    return standings(folder / "run")


def test_a_low_limit_on_open_files_does_not_limit_the_bots(tmp_path: Path) -> None:
    """Eighteen processes need more files than the soft limit, which may be raised."""
    cup = write(tmp_path, toys(6), deals=1)
    words = [sys.executable, "-m", "stich", "run", str(cup), "--out", str(tmp_path / "run")]
    limited = ["sh", "-c", f"ulimit -Sn 32; exec {shlex.join(words)}"]
    done = subprocess.run(limited, capture_output=True, text=True, cwd=cups.ROOT)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "sandbox", [False, pytest.param(True, marks=cups.needs_sandbox)], ids=["outside", "sandbox"]
)
def test_a_runner_that_is_killed_repeatedly_ends_the_same(
    tmp_path: Path, uninterrupted: dict[str, object], sandbox: bool
) -> None:
    """With so little memory, bots are stopped between matches. None outlives the runner."""
    run = tmp_path / "run"
    cup = write(tmp_path, toys(4), deals=1, sandbox=sandbox, concurrency=2, memory_mb=16)
    kept = 0
    for stop_after, how, code in ((1, signal.SIGKILL, -9), (6, signal.SIGTERM, 143)):
        process = cups.started("run", cup, "--out", run, "--json")
        seen = cups.events(process)
        assert next(event for event in seen if event["event"] == "begin")["done"] == kept
        matches = islice((event for event in seen if event["event"] == "match"), stop_after)
        assert len(list(matches)) == stop_after
        below = cups.children(process.pid)
        process.send_signal(how)
        _, errors = process.communicate()
        assert (process.returncode, "Traceback" in errors) == (code, False)
        cups.all_end(below)
        with Store.open(run) as store:
            assert store.count() >= kept + stop_after
            kept = store.count()
            assert len(list(store.matches())) == kept
    assert f"kept in {run}. Resume with the same command." in errors
    done = succeed("run", cup, "--out", run)
    assert f"12 matches, {kept} of them done already" in done.stderr
    assert {**standings(run), "incidents": uninterrupted["incidents"]} == uninterrupted
    assert [event["event"] for event in json_lines("run", cup, "--out", run)] == ["finished"]


def test_misbehaving_bots_cost_the_others_nothing(tmp_path: Path) -> None:
    """Bots die, flood their output and answer badly, all in time."""
    bots = {how: bot(how) for how in ("dies", "floods", "deep", "honest")}
    cup = write(tmp_path, bots, '[format] seating = "fixed"', deals=1, move_ms=60_000)
    succeed("run", cup, "--out", tmp_path / "run")
    with Store.open(tmp_path / "run") as store:
        matches = list(store.matches())
    table = {line["bot"]: line for line in standings(tmp_path / "run")["standings"]}
    assert [sum(table[bot]["faults"].values()) for bot in bots] == [9, 0, 9, 0]
    assert [table[bot]["struck_out"] for bot in bots] == [3, 0, 3, 0]
    assert table["deep"]["faults"]["invalid"] == 9
    unreachable = [(turn, FaultKind.UNREACHABLE, "out of luck\n") for turn in (3, 4, 5)]
    for match in matches:
        outputs = dict(zip(match.seating, match.outputs, strict=True))
        assert len(outputs.get("floods", " " * 65536)) == 65536, "the end of the flood"
        if "dies" in outputs:  # and plays again in its next match
            died = [fault for fault in match.faults if match.seating[fault.seat] == "dies"]
            assert outputs["dies"] == "out of luck\n"
            assert [(fault.turn, fault.kind, fault.output) for fault in died] == unreachable


def test_a_bot_that_hangs_is_restarted_for_its_next_match(tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    alive.mkdir()
    with cups.served_toys(2) as others:
        bots = {"hang": bot("hang", str(alive)), **others}
        cup = write(tmp_path, bots, "[faults]\nstrikes = 1", deals=1, move_ms=50, sandbox=False)
        succeed("run", cup, "--out", tmp_path / "run")
    assert len(list(alive.iterdir())) == 3  # one for each match


def test_a_worker_that_a_bot_has_stopped_is_replaced(tmp_path: Path) -> None:
    bots = {**toys(2), "attacker": bot("silences", str(tmp_path))}
    cup = write(tmp_path, bots, deals=3, move_ms=500)
    done = succeed("run", cup, "--out", tmp_path / "run")
    assert (tmp_path / "stopped").exists()
    assert "its worker process did not respond in time and was killed" in done.stderr
    with Store.open(tmp_path / "run") as store:
        assert store.run().finished
        assert store.count() == 9


def test_a_full_disk_is_reported_and_loses_no_finished_match(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or os.system(f"mount -t tmpfs -o size=300k none {disk}"):
        pytest.skip("a file system of 300 KiB can only be mounted by root")
    try:
        filler = disk / "filler"
        filler.write_bytes(b"x" * 100_000)
        with cups.served_toys(3) as bots:
            done = stich("run", write(tmp_path, bots, deals=3), "--out", disk / "run")
        assert done.returncode == 1
        assert "the disk is full; what was finished is kept" in done.stderr
        filler.unlink()
        with Store.open(disk / "run") as store:
            kept = store.count()
            assert len(list(store.matches())) == kept
    finally:
        os.system(f"umount {disk}")


def test_tables_that_wait_for_bots_by_url_share_processes(tmp_path: Path) -> None:
    """A process is killed while all tables wait. Its blocks are played again."""
    workers: list[int] = []

    def kill_one() -> None:
        running = multiprocessing.active_children()
        workers.append(len(running))
        running[0].kill()

    all_wait = threading.Barrier(12, kill_one)
    toy = hostile.toy("toy-0")

    def slow(connection: socket.socket, request: dict[str, Any]) -> None:
        if not workers:
            all_wait.wait()
        toy(connection, request)

    with ExitStack() as stack:
        urls = [stack.enter_context(hostile.running(slow)) for _ in range(3)]
        bots = {f"toy{at}": {"url": url, "max_matches": 12} for at, url in enumerate(urls)}
        cup = write(tmp_path, bots, deals=12, move_ms=60_000, concurrency=12)
        seen = json_lines("run", cup, "--out", tmp_path / "run")
    assert workers[0] <= 6
    assert any(event["event"] == "lost" for event in seen)
    assert seen[-1]["matches"] == 36
    succeed("verify", tmp_path / "run")
