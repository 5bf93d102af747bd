"""A worker that is silent for too long is replaced."""

import multiprocessing
from pathlib import Path

import pytest

from tests.tournament.cups import bot, stich, toys, write
from tournament.run.worker import Deadline
from tournament.store.store import Store


def test_a_worker_that_is_stopped_is_replaced(tmp_path: Path) -> None:
    """Here by a bot without a sandbox; its block is played by another worker."""
    bots = {**toys(2), "attacker": bot("silences", str(tmp_path))}
    cup = write(tmp_path, bots, deals=3, sandbox=False, move_ms=500)
    done = stich("run", cup, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "stopped").exists()
    with Store.open(tmp_path / "run") as store:
        assert store.get("finished")
        assert store.count() == 9


def test_a_worker_is_overdue_a_second_after_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("tournament.run.worker.monotonic", lambda: now[0])
    deadline = Deadline(multiprocessing.get_context("spawn"))
    assert deadline.left_s == float("inf")
    deadline.expect(3)
    assert deadline.left_s == 4
    now[0] = 104.5
    assert deadline.left_s == -0.5
    deadline.clear()
    assert deadline.left_s == float("inf")
