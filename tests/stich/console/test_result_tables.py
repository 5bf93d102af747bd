"""Tables on a terminal."""

import io
from collections.abc import Iterable
from dataclasses import replace

import pytest
from rich.console import Console

from stich.console.result_tables import make_console, standings_table
from tests.support.played import cup, played
from tournament.config.cup import Cup
from tournament.model import Run
from tournament.records import MatchRecord
from tournament.results.match_arrays import collect
from tournament.results.standings import compute


def drawn(of: Cup, matches: Iterable[MatchRecord], width: int) -> str:
    """The standings of these matches on a terminal, with single spaces."""
    run, arrays = Run(cup=of, finished=False), collect([m.summary() for m in matches], of.names)
    page = io.StringIO()
    Console(width=width, file=page).print(standings_table(compute(arrays, run), total=90))
    return " ".join(page.getvalue().split())


@pytest.mark.parametrize("width", [60, 140])
def test_the_terminal_shows_every_bot(width: int) -> None:
    of = cup(("ann", "bob", "cat", "dan", "eve"))
    shown = drawn(of, played(of), width)
    assert "60 of 90 matches" in shown
    assert [bot for bot in of.names if bot not in shown] == []


def test_a_name_is_no_markup() -> None:
    assert "[b]Cup[/b] [/x]: " in drawn(replace(cup(), name="[b]Cup[/b] [/x]"), [], 80)


def test_what_is_piped_is_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.delenv("COLUMNS", raising=False)
    assert make_console().width == 120
    monkeypatch.setenv("COLUMNS", "90")
    assert make_console().width == 90
