"""Every game has a page of rules, which is complete and has correct examples."""

import re
from pathlib import Path

import pytest

import games
from games import Game, State

PAGES = Path(__file__).parents[2] / "docs" / "rules"


def page(name: str) -> str:
    return (PAGES / f"{name}.md").read_text()


def lead_with(game: Game, cards: list[str]) -> State:
    """A position of the fewest players whose seat to move leads and holds these cards."""
    state = game.start(None, "examples", {})
    while state.phase != "play":
        state = state.advance(state.moves()[-1])
    wire = state.to_dict()
    hand = wire["hands"][wire["turn"]]
    wire |= {field: [] for field in ("talon", "discards") if field in wire}
    for card in cards:
        if card in hand:
            continue
        spare = next(held for held in hand if held not in cards)
        hand[hand.index(spare)] = card
        for other in wire["hands"]:
            if other is not hand and card in other:
                other[other.index(card)] = spare
    return game.state(wire)


EXAMPLES = [
    (game.name, category.name, category.example)
    for game in games.GAMES.values()
    for category in game.categories
]


@pytest.mark.parametrize("name", games.GAMES)
def test_a_page_has_every_option_with_its_default_and_range(name: str) -> None:
    game, text = games.get(name), page(name)
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", text.partition("## Options")[2], re.M))
    assert list(rows) == [option.name for option in game.options]
    for option in game.options:
        default, span, _ = rows[option.name].split(" | ", 2)
        assert default == ("null" if option.default is None else str(option.default).lower())
        if option.minimum is None:
            assert span == "true, false"
        else:
            limits = f"{option.minimum}–{option.maximum}"
            assert span == (f"{limits} or null" if option.nullable else limits)


TABLED = [
    (name, *row)
    for name in games.GAMES
    for row in re.findall(r"^\|(?: \w* *\|)? `([\w+-]+)` \|.*\| `(play:\S+)` \|$", page(name), re.M)
]


@pytest.mark.parametrize(("name", "category", "example"), EXAMPLES + TABLED)
def test_an_example_is_a_legal_lead_of_its_category(name: str, category: str, example: str) -> None:
    cards = re.findall("..", example.removeprefix("play:").partition("=")[0])
    assert lead_with(games.get(name), cards).check(example).category == category


def test_the_tables_have_every_category_of_the_climbing_games() -> None:
    climbing = [row[:2] for row in EXAMPLES if row[0] != "ninefivetwo"]
    assert {*climbing} <= {(name, category) for name, category, _ in TABLED}
