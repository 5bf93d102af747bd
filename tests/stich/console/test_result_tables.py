"""Tables on a terminal."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from stich.console.result_tables import make_console, standings_table
from tests.support.played import cup, played
from tournament.model import Run
from tournament.results.match_arrays import collect
from tournament.results.standings import compute


@pytest.mark.parametrize("width", [60, 80, 140])
def test_the_terminal_shows_every_bot(width: int) -> None:
    page = io.StringIO()
    console = Console(width=width, file=page)
    of = cup(("ann", "bob", "cat", "dan", "eve"))
    matches = [record.summary() for record in played(of)]
    table = compute(collect(matches, of.names), Run(cup=of, finished=False))
    console.print(standings_table(table, total=90))
    shown = page.getvalue()
    assert "60 of 90 matches" in " ".join(shown.split())
    for bot in of.names:
        assert bot in shown


def test_a_name_is_no_markup() -> None:
    of = replace(cup(), name="[b]Cup[/b] [/x]")
    page = io.StringIO()
    Console(width=80, file=page).print(
        standings_table(compute(collect([], of.names), Run(cup=of, finished=True)))
    )
    assert "[b]Cup[/b] [/x]: " in page.getvalue()


def test_what_is_piped_is_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.delenv("COLUMNS", raising=False)
    assert make_console().width == 120
    monkeypatch.setenv("COLUMNS", "90")
    assert make_console().width == 90
