"""Whatever happens to the runner, the standings are the same."""

import json
import multiprocessing
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from bots import sensible
from tests.support.cups import (
    ROOT,
    all_end,
    bot,
    children,
    events,
    needs_sandbox,
    served_toys,
    standings,
    started,
    stich,
    succeed,
    toys,
    write,
)
from tools import hostile
from tournament.config.parse import read_cup
from tournament.records import FaultKind
from tournament.run.resume import only_runner, resume
from tournament.run.session import canonical
from tournament.store.store import Store


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The standings of the toy cup, run in one go, one table at a time."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    cup = write(folder, toys(4), deals=2, concurrency=1)
    assert "toy0" in succeed("run", cup, "--out", folder / "run").stdout
    return standings(folder / "run")


def test_a_low_limit_on_open_files_does_not_limit_the_bots(tmp_path: Path) -> None:
    """Eighteen processes need more files than the soft limit, which may be raised."""
    cup = write(tmp_path, toys(6), deals=1)
    words = [sys.executable, "-m", "stich", "run", str(cup), "--out", str(tmp_path / "run")]
    limited = ["sh", "-c", f"ulimit -Sn 32; exec {shlex.join(words)}"]
    done = subprocess.run(limited, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("setting", [{"concurrency": 3}, {"concurrency": 2, "memory_mb": 16}])
def test_tables_and_memory_do_not_change_the_standings(
    tmp_path: Path, uninterrupted: dict[str, object], setting: dict[str, Any]
) -> None:
    """With little memory, bots are stopped and started between matches."""
    succeed("run", write(tmp_path, toys(4), deals=2, **setting), "--out", tmp_path / "run")
    assert standings(tmp_path / "run") == uninterrupted


@pytest.mark.parametrize(
    "sandbox", [False, pytest.param(True, marks=needs_sandbox)], ids=["outside", "sandbox"]
)
def test_a_runner_that_is_killed_repeatedly_ends_the_same(
    tmp_path: Path, uninterrupted: dict[str, object], sandbox: bool
) -> None:
    """No process that the runner has started outlives the runner."""
    cup = write(tmp_path, toys(4), deals=2, sandbox=sandbox, concurrency=2)
    kept = 0
    for stop_after in (1, 6):
        process = started("run", cup, "--out", tmp_path / "run", "--json")
        seen = events(process)
        assert next(event for event in seen if event["event"] == "begin")["done"] == kept
        matches = islice((event for event in seen if event["event"] == "match"), stop_after)
        assert len(list(matches)) == stop_after
        below = children(process.pid)
        process.kill()
        process.communicate()
        all_end(below)
        with Store.open(tmp_path / "run") as store:
            assert store.count() >= kept + stop_after
            kept = store.count()
            assert len(list(store.matches())) == kept
    done = succeed("run", cup, "--out", tmp_path / "run")
    assert f"24 matches, {kept} of them done already" in done.stderr
    assert {**standings(tmp_path / "run"), "incidents": uninterrupted["incidents"]} == uninterrupted
    again = stich("run", cup, "--out", tmp_path / "run", "--json")
    assert [json.loads(line)["event"] for line in again.stdout.splitlines()] == ["finished"]


@pytest.mark.parametrize(
    ("format", "key"),
    [
        ("swiss", "rounds = 3"),
        ("knockout", 'seeds = ["toy3"]'),
        ("gauntlet", 'challenger = "toy2"'),
        ("halving", ""),
    ],
)
def test_every_format_resumes_to_the_same_end(tmp_path: Path, format: str, key: str) -> None:
    """Later rounds are drawn from the store alone, in whatever order its matches came."""
    one, two = tmp_path / "one", tmp_path / "two"
    with served_toys(6) as bots:
        keys = f'[format] type = "{format}"', f"[format] {key}"
        path = write(tmp_path, bots, *keys, deals=1, concurrency=2)
        succeed("run", path, "--out", one)
        with Store.open(one) as whole, Store.create(two) as half:
            resume(half, read_cup(path))
            for record in list(whole.matches())[::-2]:
                half.add(record)
            kept = half.count()
        done = stich("run", path, "--out", two)
        assert f"{kept} of them done already" in done.stderr, done.stderr
    assert standings(two) == standings(one)
    succeed("verify", two)


def strong(connection: socket.socket, request: dict[str, Any]) -> None:
    """A bot that is better than the toys."""
    move = sensible.move(request["view"], request["moves"])
    connection.sendall(hostile.answer(json.dumps({"move": move}).encode()))


def test_a_cup_that_ends_early_resumes_to_the_same_end(tmp_path: Path) -> None:
    """The cup ends at the same block, although half of its matches were missing."""
    one, two = tmp_path / "one", tmp_path / "two"
    stop = "[stop]\ntop = 1\nconfidence = 0.5"
    with served_toys(3) as toys, hostile.running(strong) as url:
        bots = {"strong": url, **toys}
        path = write(tmp_path, bots, stop, deals=30, concurrency=2)
        succeed("run", path, "--out", one)
        with Store.open(one) as whole, Store.create(two) as half:
            assert whole.run().settled == ("strong",)
            resume(half, read_cup(path))
            for record in list(whole.matches())[::2]:
                half.add(record)
        path = write(tmp_path, bots, stop, deals=30, concurrency=1)
        succeed("run", path, "--out", two)
        table = standings(two)
        assert table == standings(one)
        assert (table["finished"], table["blocks"] < 120) == (True, True)
        succeed("verify", two)
        more = {**bots, "late": bots["toy1"]}
        done = stich("run", write(tmp_path, more, stop, deals=30), "--out", two)
        assert 'bot "late" is new, and [stop] has compared the bots without it' in done.stderr
        assert done.stderr.endswith("with [stop] only deals may be added.\n")
        with Store.open(two) as store:
            store.finish()
        done = stich("verify", two)
        assert "run: Settled are ['strong'], the store has []." in done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_prints_how_to_resume(tmp_path: Path, number: signal.Signals) -> None:
    alive = tmp_path / "alive"
    alive.mkdir()
    cup = write(tmp_path, toys(3, str(alive)), deals=1000, sandbox=False)
    process = started("run", cup, "--out", tmp_path / "run", "--json")
    next(event for event in events(process) if event["event"] == "match")
    process.send_signal(number)
    _, errors = process.communicate()
    assert process.returncode == 128 + number
    assert f"kept in {tmp_path / 'run'}. Resume with the same command." in errors
    assert "Traceback" not in errors
    all_end(int(path.name) for path in alive.iterdir())


def test_a_second_runner_is_refused(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with Store.create(run) as store, only_runner(store):
        second = stich("run", write(tmp_path, toys(3)), "--out", run)
    assert second.returncode == 1
    assert second.stderr == (
        f"{run}: another runner is at work here (process {os.getpid()});"
        " wait for it, or stop it first.\n"
    )


def test_an_extended_cup_equals_a_cup_that_began_so(tmp_path: Path) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    with served_toys(4) as bots:
        few = {name: bots[name] for name in list(bots)[:3]}
        succeed("run", write(tmp_path, few, deals=2), "--out", small)
        grown = write(tmp_path, bots, deals=3)
        done = succeed("run", grown, "--out", small)
        assert "6 of them done already" in done.stderr
        succeed("run", grown, "--out", large)
    # Somebody may have looked at the cup before it was extended, so its ranges hold at any time.
    assert standings(small)["ranges"] == "anytime"
    with Store.open(small) as store:
        store._put(extended=False)
    assert standings(small) == standings(large)


@pytest.fixture(scope="module")
def misbehaved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A run in which bots die, flood their output and answer nonsense, all in time."""
    folder = tmp_path_factory.mktemp("misbehaved")
    bots = {how: bot(how) for how in ("dies", "floods", "deep", "honest")}
    cup = write(folder, bots, '[format] seating = "fixed"', deals=1, move_ms=60_000)
    succeed("run", cup, "--out", folder / "run")
    with Store.open(folder / "run") as store:
        yield store


def test_a_bot_that_dies_plays_its_next_match(misbehaved: Store) -> None:
    matches = [match for match in misbehaved.matches() if "dies" in match.seating]
    assert len(matches) == 3
    for match in matches:
        seat = match.seating.index("dies")
        mine = [fault for fault in match.faults if fault.seat == seat]
        assert [fault.turn for fault in mine] == [3, 4, 5]
        assert {fault.kind for fault in mine} == {FaultKind.UNREACHABLE}
        assert {fault.output for fault in mine} == {match.outputs[seat]} == {"out of luck\n"}


def test_the_end_of_a_flood_of_output_is_kept(misbehaved: Store) -> None:
    for match in misbehaved.matches():
        if "floods" in match.seating:
            assert len(match.outputs[match.seating.index("floods")]) == 64 * 1024


def test_misbehaving_bots_cost_the_others_nothing(misbehaved: Store) -> None:
    table = {line["bot"]: line for line in standings(misbehaved.folder)["standings"]}
    for name in ("honest", "floods"):
        assert sum(table[name]["faults"].values()) == table[name]["struck_out"] == 0
    assert table["deep"]["struck_out"] == 3
    assert table["deep"]["faults"]["invalid"] == 9


def test_a_bot_that_hangs_is_restarted_for_its_next_match(tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    alive.mkdir()
    with served_toys(2) as others:
        bots = {"hang": bot("hang", str(alive)), **others}
        cup = write(tmp_path, bots, "[faults]\nstrikes = 1", deals=1, move_ms=50, sandbox=False)
        succeed("run", cup, "--out", tmp_path / "run")
    assert len(list(alive.iterdir())) == 3  # one for each match


def test_a_bot_by_url_plays_one_match_at_a_time(tmp_path: Path) -> None:
    open_matches: set[str] = set()
    overlaps = []

    def watch(connection: socket.socket, request: dict[str, Any]) -> None:
        if request["turn"] == 1:
            open_matches.clear()
        open_matches.add(request["match"])
        overlaps.append(len(open_matches))
        hostile.first(connection, request)

    with hostile.running(watch) as url, served_toys(3) as others:
        cup = write(tmp_path, {"mine": url, **others}, deals=3, concurrency=2)
        succeed("run", cup, "--out", tmp_path / "run")
    assert max(overlaps) == 1


def test_a_worker_that_a_bot_has_stopped_is_replaced(tmp_path: Path) -> None:
    bots = {**toys(2), "attacker": bot("silences", str(tmp_path))}
    succeed("run", write(tmp_path, bots, deals=3, move_ms=500), "--out", tmp_path / "run")
    assert (tmp_path / "stopped").exists()
    with Store.open(tmp_path / "run") as store:
        assert store.run().finished
        assert store.count() == 9


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://h:9000", "http://h:9000/"),
        ("http://h:80/bot", "HTTP://H/bot/"),
        ("https://h:443", "https://h"),
    ],
)
def test_equivalent_urls_are_the_same_server(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)
    assert canonical(one) != canonical(one + "/else")


def test_a_full_disk_is_reported_and_loses_no_finished_match(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or os.system(f"mount -t tmpfs -o size=300k none {disk}"):
        pytest.skip("a file system of 300 KiB can only be mounted by root")
    try:
        filler = disk / "filler"
        filler.write_bytes(b"x" * 100_000)
        with served_toys(3) as bots:
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
    seen = [json.loads(line) for line in done.stdout.splitlines()]
    assert workers[0] <= 6
    assert any(event["event"] == "lost" for event in seen)
    assert seen[-1]["matches"] == 36
    succeed("verify", tmp_path / "run")
