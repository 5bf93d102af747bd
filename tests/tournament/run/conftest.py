"""A finished run, and a cup that stops early."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.tournament import played
from tests.support.tournament.one_table import Clock
from tournament.formats.stopping import Stop

BOTS = ("ann", "bob", "cat", "dan")
STOP = replace(played.cup(BOTS, deals=18), stop=Stop(top=1))
FAULTY = {"bob": 12, "cat": 60, "dan": 60}
"""Percentages with which `STOP` ends early, because ann is the best."""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    played.run(tmp_path / "run", played.cup(BOTS)).close()
    return tmp_path / "run"
