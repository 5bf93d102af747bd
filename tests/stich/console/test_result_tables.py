"""Tables on a terminal."""

import io

import pytest
from rich.console import Console

from stich.console.result_tables import make_console, standings_table
from tests.support.standings import BOTS, cup, run_of
from tournament.results.standings import standings


@pytest.mark.parametrize("width", [60, 80, 140])
def test_the_terminal_shows_every_bot(width: int) -> None:
    page = io.StringIO()
    console = Console(width=width, file=page)
    console.print(standings_table(standings(run_of(cup(), finished=False)), total=90))
    shown = page.getvalue()
    assert "36 of 90 matches" in " ".join(shown.split())
    for bot in BOTS:
        assert bot in shown


def test_a_name_is_no_markup() -> None:
    page = io.StringIO()
    Console(width=80, file=page).print(
        standings_table(standings(run_of(cup(), name="[b]Cup[/b] [/x]")))
    )
    assert "[b]Cup[/b] [/x]: " in page.getvalue()


def test_what_is_piped_is_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.delenv("COLUMNS", raising=False)
    assert make_console().width == 120
    monkeypatch.setenv("COLUMNS", "90")
    assert make_console().width == 90
