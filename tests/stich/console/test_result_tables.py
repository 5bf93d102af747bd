import io
from dataclasses import replace

import pytest
from rich.console import Console

from stich.console.result_tables import standings_table
from tests.support.tournament.played import cup, played
from tournament.model import Run
from tournament.results.match_arrays import collect
from tournament.results.standings import compute


@pytest.mark.parametrize("width", [60, 140])
def test_the_terminal_shows_every_bot_and_a_name_is_no_markup(width: int) -> None:
    of = replace(cup(("ann", "bob", "cat", "dan", "eve")), name="[b]Cup[/b] [/x]")
    arrays = collect([record.summary() for record in played(of)], of.names)
    page = io.StringIO()
    table = standings_table(compute(arrays, Run(cup=of, finished=False)), total=90)
    Console(width=width, file=page).print(table)
    shown = " ".join(page.getvalue().split())
    assert "[b]Cup[/b] [/x]: " in shown
    assert "60 of 90 matches" in shown
    assert [bot for bot in of.names if bot not in shown] == []
