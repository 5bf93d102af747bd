import re
from pathlib import Path

import pytest

import games
from games import State
from tests.support.games.climbing import dasan, doudizhu
from tests.support.games.ninefivetwo import setup
from tests.support.games.zhengfen import lead

PAGES = Path(__file__).parents[2] / "docs" / "rules"


def page(name: str) -> str:
    return (PAGES / f"{name}.md").read_text()


def lead_with(name: str, cards: list[str]) -> State:
    """A position of three players in which seat 0 leads from these cards."""
    if name == "zhengfen":
        return lead("".join(cards))
    hand, *others = [card for card in games.get(name).deck(3).cards if card not in cards][:3]
    if name == "ninefivetwo":
        return setup("play", (cards[0], hand, others[0]))
    return (doudizhu if name == "doudizhu" else dasan)([" ".join(cards), *others])


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


EXAMPLES = [
    (game.name, category.name, category.example)
    for game in games.GAMES.values()
    for category in game.categories
]
TABLED = [
    (name, *row)
    for name in games.GAMES
    for row in re.findall(r"^\|(?: \w* *\|)? `([\w+-]+)` \|.*\| `(play:\S+)` \|$", page(name), re.M)
]


@pytest.mark.parametrize(("name", "category", "example"), EXAMPLES + TABLED)
def test_an_example_is_a_legal_lead_of_its_category(name: str, category: str, example: str) -> None:
    cards = re.findall("..", example.removeprefix("play:").partition("=")[0])
    assert lead_with(name, cards).check(example).category == category


def test_the_tables_have_every_category_of_the_climbing_games() -> None:
    climbing = [row[:2] for row in EXAMPLES if row[0] != "ninefivetwo"]
    assert {*climbing} <= {(name, category) for name, category, _ in TABLED}
