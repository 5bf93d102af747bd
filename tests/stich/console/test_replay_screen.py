import pytest

import games
from stich.console.replay_screen import step_through
from stich.console.result_tables import make_console
from tests.support.tournament import played
from tournament.display.replay import steps


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
