"""Cups in which a bot without a sandbox attacks the runner or its opponents, and voids."""

import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest

from tests.tournament.cups import all_end, bot, stich, toys, write
from tournament.config import Cup
from tournament.records import VoidRecord
from tournament.run.deadline import Deadline
from tournament.store.store import Store

VOID = VoidRecord("m", 3, "k", 1, 2, ("a", "b"), "b", "It was stopped.", "2026", "2027")


def run(
    folder: Path, attacker: str, *words: str, **more: Any
) -> tuple[Store, list[dict[str, Any]]]:
    """The store and the events of a cup of two toys and an attacker without a sandbox."""
    bots = {**toys(2), "attacker": bot(attacker, *words)}
    cup = write(folder, bots, deals=3, sandbox=False, **more)
    done = stich("run", cup, "--out", folder / "run", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("nothing is safe from them") == 1
    return Store.open(folder / "run"), [json.loads(line) for line in done.stdout.splitlines()]


def test_opponents_that_are_stopped_do_not_lose_by_it(tmp_path: Path) -> None:
    store, told = run(tmp_path, "stops")
    with store:
        voids = store.voids()
        assert {void.bot for void in voids} == {"toy0", "toy1"}
        assert all(void.why.startswith("Somebody stopped its processes") for void in voids)
        assert len(voids) <= 2 * Cup("", "", 3, ()).voids
        assert store.get("finished")
        for match in store.matches():
            for fault in match.faults:
                assert match.seating[fault.seat] == "attacker"
        assert {void.match for void in voids} <= {match.match for match in store.matches()}
    events = [event for event in told if event["event"] == "void"]
    assert [(event["match"], event["bot"]) for event in events] == [
        (void.match, void.bot) for void in voids
    ]


def test_who_kills_an_opponent_cannot_answer_in_its_place(tmp_path: Path) -> None:
    store, _ = run(tmp_path, "usurps")
    details = []
    with store:
        for match in store.matches():
            for fault in match.faults:
                if match.seating[fault.seat] != "attacker":
                    assert fault.kind == "unreachable"
                    assert "usurped" not in fault.answer.body
                    details.append(fault.detail)
    assert any("another program listens at its port" in detail for detail in details)


def test_a_worker_that_is_stopped_is_replaced(tmp_path: Path) -> None:
    """The watchdog sees that it is silent; its block is played by another one."""
    store, _ = run(tmp_path, "silences", str(tmp_path), move_ms=500)
    with store:
        assert (tmp_path / "stopped").exists()
        assert store.get("finished")
        assert store.count() == 9


def test_what_a_bot_leaves_behind_is_gone_though_it_kills_its_supervisor(tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    alive.mkdir()
    run(tmp_path, "deserts", str(alive), move_ms=300)[0].close()
    found = [int(path.name) for path in alive.iterdir()]
    assert found
    all_end(found)


def test_a_void_match_is_kept_and_does_not_count(tmp_path: Path) -> None:
    with Store.create(tmp_path) as store:
        store.add_void(VOID)
        store.add_void(VOID)
        assert store.voids() == [VOID, VOID]
        assert store.count() == 0


def test_a_worker_is_overdue_a_second_after_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("tournament.run.deadline.monotonic", lambda: now[0])
    deadline = Deadline(multiprocessing.get_context("spawn"))
    assert deadline.left_s == float("inf")
    deadline.expect(3)
    assert deadline.left_s == 4
    now[0] = 104.5
    assert deadline.left_s == -0.5
    deadline.clear()
    assert deadline.left_s == float("inf")
