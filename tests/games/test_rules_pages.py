"""Every game has a page of rules, which is complete and has correct examples."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import games
from games import Game, State
from tests import golden

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
    for field in ("talon", "discards"):
        wire.pop(field, None) if field not in wire else wire.update({field: []})
    for card in cards:
        if card in hand:
            continue
        spare = next(held for held in hand if held not in cards)
        hand[hand.index(spare)] = card
        for other in wire["hands"]:
            if other is not hand and card in other:
                other[other.index(card)] = spare
    return game.state(wire)


def category_of(game: Game, move: str) -> Any:
    cards = re.findall("..", move.removeprefix("play:").partition("=")[0])
    return lead_with(game, cards).check(move).category


EXAMPLES = [
    (game.name, category.name, category.example)
    for game in games.GAMES.values()
    for category in game.categories
]


@pytest.mark.parametrize(("name", "category", "example"), EXAMPLES)
def test_the_example_of_a_category_is_a_legal_lead_of_that_category(
    name: str, category: str, example: str
) -> None:
    assert category_of(games.get(name), example) == category


@pytest.mark.parametrize("name", games.GAMES)
def test_a_page_names_its_game_and_every_phase_and_category(name: str) -> None:
    game, text = games.get(name), page(name)
    assert text.startswith(f"# {game.title}")
    assert f"(`{name}`)" in text.splitlines()[0]
    assert "*German: " in text
    assert "**(D)**" in text
    assert "*Example" in text
    if len(game.phases) > 1:
        for phase in game.phases:
            assert f"phase `{phase}`" in text
    for category in game.categories:
        assert f"`{category.name}`" in text


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


@pytest.mark.parametrize("name", games.GAMES)
def test_a_page_lists_the_golden_games_of_its_game_with_their_options(name: str) -> None:
    text = page(name).partition("## Golden games")[2]
    rows = re.findall(r"^\| `([\w-]+)` \| (\d) \|(.*?)\| \S.* \|$", text, re.M)
    starts = {file: golden.load(file)["start"] for file in golden.files()}
    assert [(file, int(players), options.strip()) for file, players, options in rows] == [
        (
            file,
            start["players"],
            ", ".join(
                f"`{option}` {json.dumps(value)}" for option, value in start["options"].items()
            ),
        )
        for file, start in starts.items()
        if start["game"] == name
    ]


GOLDEN = [
    (file, int(deal), re.findall(r"[Ss]eat\s(\d)\s`([\w:]+)`", text))
    for name in games.GAMES
    for file, deal, text in re.findall(
        r"^\*Golden game `([\w-]+)`, deal (\d+)\.\*(.*?)\n\n", page(name), re.M | re.S
    )
]


@pytest.mark.parametrize(("file", "deal", "calls"), GOLDEN)
def test_an_auction_of_a_golden_game_is_as_its_page_tells_it(
    file: str, deal: int, calls: list[tuple[str, str]]
) -> None:
    made = golden.load(file)
    state: State = games.get(made["start"]["game"]).state(made["first"])
    auction = []
    for step in made["steps"]:
        if (state.deal, state.phase) == (deal, "auction"):
            auction.append((str(step["turn"]), step["move"]))
        state = state.advance(step["move"])
    assert auction == calls


def test_each_variant_of_an_auction_is_shown_by_a_golden_game() -> None:
    shown = {option for file, _, _ in GOLDEN for option in golden.load(file)["start"]["options"]}
    assert shown >= {"single_round", "open_higher"}


TABLED = [
    (name, *row)
    for name in games.GAMES
    if (PAGES / f"{name}.md").exists()
    for row in re.findall(r"^\|(?: \w* *\|)? `([\w+-]+)` \|.*\| `(play:\S+)` \|$", page(name), re.M)
]


@pytest.mark.parametrize(("name", "category", "example"), TABLED)
def test_an_example_in_a_table_is_what_the_table_says(
    name: str, category: str, example: str
) -> None:
    assert category_of(games.get(name), example) == category


def test_the_tables_have_an_example_of_every_category_of_the_climbing_games() -> None:
    there = {(name, category) for name, category, _ in TABLED}
    for game in games.GAMES.values():
        if len(game.categories) > 1:
            assert {(game.name, category.name) for category in game.categories} <= there


def test_the_index_links_to_every_page() -> None:
    text = (PAGES / "README.md").read_text()
    links = re.findall(r"\]\((\w+\.md)\)", text)
    assert links == [f"{name}.md" for name in games.GAMES]
    for game in games.GAMES.values():
        few, many = game.min_players, game.max_players
        span = f"{few}" if few == many else f"{few}–{many}"
        assert re.search(rf"^\| `{game.name}` \|.*\| {span} \|", text, re.M)
