import io
from dataclasses import replace

import pytest
from rich.console import Console

import games
from stich.console.result_tables import make_console, standings_table
from stich.console.screens import step_through
from tests.support.tournament import played
from tournament.display.replay import steps
from tournament.model import Run
from tournament.results.match_arrays import collect
from tournament.results.standings import compute


@pytest.mark.parametrize("name", games.GAMES)
def test_every_step_shows_the_facts_and_roles_of_its_position(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = games.get(name)
    bots = ("ann", "bob", "cat", "dan", "eve", "fay")[: game.min_players]
    cup = played.cup(
        bots, game=name, players=len(bots), deals=1, seating="fixed", options={"deals": 1}
    )
    (record,) = played.played(cup)
    seen = list(steps(record, cup))
    screens: list[str] = []
    keys = ["n"] * (len(seen) - 1) + ["b", "f", "e", "q"]

    def next_key() -> str:
        screens.append(" ".join(capsys.readouterr().out.split()))
        return keys[len(screens) - 1]

    monkeypatch.setattr("click.getchar", next_key)
    step_through(make_console(), record, cup)
    labels = set()
    assert screens[-1] == screens[len(seen) - 1] != screens[len(seen)]  # at the end again
    for step, screen in zip(seen, screens, strict=False):
        facts = game.facts(step.state)
        labels |= {fact.label for fact in facts}
        assert all(fact.label in screen for fact in facts)
        for seat, name in enumerate(record.seating):
            roles = ", ".join(map(str, game.roles(step.state, seat)))
            assert (f"{name} ({roles})" if roles else name) in screen
    assert "to beat" in labels or "trick" in labels


@pytest.mark.parametrize("width", [60, 140])
def test_the_terminal_shows_every_bot_and_a_name_is_no_markup(width: int) -> None:
    of = replace(played.cup(("ann", "bob", "cat", "dan", "eve")), name="[b]Cup[/b] [/x]")
    arrays = collect([record.summary() for record in played.played(of)], of.names)
    page = io.StringIO()
    table = standings_table(compute(arrays, Run(cup=of, finished=False)), total=90)
    Console(width=width, file=page).print(table)
    shown = " ".join(page.getvalue().split())
    assert "[b]Cup[/b] [/x]: " in shown
    assert "60 of 90 matches" in shown
    assert [bot for bot in of.names if bot not in shown] == []
