"""The examples in the tables of docs/rules/zhengfen.md are true."""

from __future__ import annotations

from pathlib import Path

import pytest

from games.game import Option
from games.zhengfen.state import GAME
from tests.games.zhengfen.positions import follow, lead, reason

PAGE = Path(__file__).parents[3] / "docs" / "rules" / "zhengfen.md"


def rows() -> list[list[str]]:
    """The cells of all rows of tables."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    return [
        [cell.strip(" `") for cell in line.split("|")[1:-1]]
        for line in lines
        if line.startswith("|")
    ]


CATEGORIES = [category.name for category in GAME.categories]
READINGS = [row for row in rows() if len(row) == 5 and row[1] in CATEGORIES and row[3].isdigit()]
EXAMPLES = [row for row in rows() if len(row) == 5 and row[4].startswith("play:")]
ORDER = [row for row in rows() if len(row) == 3 and row[0].startswith("play:")]


@pytest.mark.parametrize("row", READINGS, ids=lambda row: row[0])
def test_what_cards_are_read_as(row: list[str]) -> None:
    move = lead(row[0]).check(f"play:{row[0]}")
    assert [move.category, move.rank, str(move.length)] == row[1:4]


@pytest.mark.parametrize("row", EXAMPLES, ids=lambda row: row[1])
def test_an_example_of_each_category(row: list[str]) -> None:
    assert lead(row[4].removeprefix("play:")).check(row[4]).category == row[1]


@pytest.mark.parametrize("row", ORDER, ids=lambda row: f"{row[1]} on {row[0]}")
def test_what_beats_what(row: list[str]) -> None:
    state = follow(row[1].removeprefix("play:"), row[0].removeprefix("play:"))
    assert reason(state, row[1]) == row[2]


def test_the_tables_are_there() -> None:
    assert (len(READINGS), len(ORDER)) == (14, 9)
    assert [row[1] for row in EXAMPLES] == CATEGORIES


@pytest.mark.parametrize("option", GAME.options, ids=lambda option: option.name)
def test_the_options_are_as_the_page_has_them(option: Option) -> None:
    default = "null" if option.default is None else str(option.default)
    assert [option.name, default] in [row[:2] for row in rows()]
