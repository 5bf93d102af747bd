"""The duels that rank the reference bots."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from benchmarks.bots import strength


@pytest.mark.parametrize("players", [3, 4, 5, 6])
def test_seatings_are_fair(players: int) -> None:
    seatings = strength.seatings(players)
    assert len(seatings) == len(set(seatings)) == 2 * players
    for seat in range(players):
        assert sum(seating[seat] == 0 for seating in seatings) == players


@pytest.mark.parametrize("game", strength.OPTIONS)
def test_equal_bots_differ_by_nothing(game: str) -> None:
    outcome = strength.duel(("greedy", "greedy"), game, 3, 2)
    assert (outcome.mean, outcome.low, outcome.high) == (0, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("game", "players"), strength.DEALS)
@pytest.mark.parametrize("pair", [("greedy", "random"), ("sensible", "greedy")])
def test_the_ladder_on_a_few_deals(pair: tuple[str, str], game: str, players: int) -> None:
    """A sample of what docs/reference-bots.md shows; the bots are deterministic, and so is it."""
    deals = 20 if game == "zhengfen" else 6
    assert strength.duel(pair, game, players, deals, series="test").mean > 0


@pytest.mark.parametrize(("game", "players"), strength.DEALS)
def test_every_rung_of_the_ladder_was_measured_and_holds(game: str, players: int) -> None:
    """docs/reference-bots.md claims that each bot beats all below it significantly."""
    lows = {
        (record["better"], record["worse"]): record["low"]
        for record in strength.load()
        if (record["game"], record["players"]) == (game, players)
    }
    assert set(lows) == set(combinations(strength.LADDER, 2))
    assert min(lows.values()) > 0


@pytest.mark.slow
def test_search_beats_sensible_on_a_few_deals() -> None:
    outcome = strength.duel(("search:6", "sensible"), "ninefivetwo", 3, 1, series="test")
    assert outcome.mean > 0


def test_interval() -> None:
    outcome = strength.DuelOutcome.of([1.0, 2.0, 3.0] * 30, 0.0)
    assert outcome.low < outcome.mean == 2 < outcome.high
    assert 0.1 < outcome.high - outcome.mean < 0.25


def record(better: str, worse: str, mean: float) -> dict[str, Any]:
    return {
        "game": "dasan", "players": 3, "better": better, "worse": worse, "mean": mean, "low": 0.5,
        "high": 1.5, "deals": 7, "games": 42, "seconds": 1.0, "date": "2026-01-02", "machine": "M",
    }  # fmt: skip


def test_page_shows_what_was_measured() -> None:
    page = strength.page([record("sensible", "greedy", 1.0)])
    assert "### Dasan" in page
    assert "+1.00 [+0.50, +1.50], n = 7" in page
    assert "not measured" in page
    assert "Zheng Fen, 3 players" not in page
    assert "Measured 2026-01-02 on M." in page


def test_records_are_replaced(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strength, "RECORDS", tmp_path / "strength.json")
    monkeypatch.setattr(strength, "PAGE", tmp_path / "page.md")
    strength.PAGE.write_text("# Bots\n" + strength.TABLES)
    strength.store_record(record("sensible", "greedy", 1.0))
    strength.store_record(record("greedy", "random", 3.0))
    strength.store_record(record("sensible", "greedy", 2.0))
    assert [(kept["better"], kept["mean"]) for kept in strength.load()] == [
        ("greedy", 3.0),
        ("sensible", 2.0),
    ]
    assert (tmp_path / "page.md").read_text() == strength.page(strength.load())


def test_the_page_is_made_of_the_records() -> None:
    assert strength.PAGE.read_text(encoding="utf-8") == strength.page(strength.load())
