"""How a cup went: the bracket, the rounds, the stages, the challenger against each."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.memory_run import run_of
from tests.support.played import cup
from tests.support.standings import match
from tournament.display.formatting import bracket_note
from tournament.formats import FORMATS
from tournament.records import MatchSummary
from tournament.results.course import Course
from tournament.results.standings import Standings, standings

Played = tuple[int, str, dict[str, int]]
"""A block of one match: round, stage, and the points of each bot."""


def table(format: str, blocks: Sequence[Played], **about: Any) -> Standings:
    matches: list[MatchSummary] = [
        match(number, 0, tuple(points), tuple(points.values()))._replace(round=round, stage=stage)
        for number, (round, stage, points) in enumerate(blocks, 1)
    ]
    bots = sorted({bot for _, _, points in blocks for bot in points})
    keys = {"challenger": about.pop("challenger")} if "challenger" in about else {}
    return standings(run_of(matches, bots=bots, format=FORMATS[format](**keys), **about))


def course(format: str, blocks: Sequence[Played], **about: Any) -> Course:
    found = table(format, blocks, **about).course
    assert found is not None
    return found


KNOCKOUT: list[Played] = [
    (1, "semi-final", {"ann": 3, "bob": 0, "cat": -3}),
    (1, "semi-final", {"dan": 2, "eve": 1, "fay": -3}),
    (1, "semi-final", {"gil": 2, "hal": 2, "ivy": -4}),
    (2, "final", {"ann": 0, "dan": 0, "hal": 0}),
    (2, "bronze", {"bob": 4, "eve": 0, "gil": -4}),
]
ORDER = ("ann", "dan", "hal", "bob", "eve", "gil", "cat", "fay", "ivy")
PLACES = {bot: place for place, bot in enumerate(ORDER, 1)}


def test_a_knockout_has_its_bracket_and_its_winner() -> None:
    found = course("knockout", KNOCKOUT, places=PLACES)
    assert found.winners == ("ann",)
    first, last = found.rounds
    assert [[(one.bot, one.advances) for one in table.bots] for table in first.tables] == [
        [("ann", True), ("bob", False), ("cat", False)],
        [("dan", True), ("eve", False), ("fay", False)],
        [("hal", True), ("gil", False), ("ivy", False)],
    ]
    assert [table.stage for table in last.tables] == ["final", "bronze"]
    # Equal points: the order is that of the places, which the tie-breaks have decided.
    assert [one.bot for one in last.tables[0].bots] == ["ann", "dan", "hal"]
    assert {one.advances for table in last.tables for one in table.bots} == {None}
    tie = "hal plays on before gil, with equal points, by the mean of all rounds so far, or if"
    assert bracket_note(first, first.tables[2]).startswith(tie)
    assert bracket_note(first, first.tables[0]) == ""
    assert bracket_note(last, last.tables[1]) == "For place 4 and those after it."


def test_before_the_next_round_nobody_is_out() -> None:
    found = course("knockout", KNOCKOUT[:3], finished=False)
    assert found.winners == ()
    (first,) = found.rounds
    assert {one.advances for table in first.tables for one in table.bots} == {None}
    found = course("knockout", KNOCKOUT[:4], finished=False)
    assert [one.advances for one in found.rounds[0].tables[2].bots] == [True, False, False]


def test_a_bot_that_sat_out_the_first_round_had_a_bye() -> None:
    blocks = [
        (1, "semi-final", {"ann": 3, "bob": 0, "cat": -3}),
        (2, "final", {"ann": 1, "dan": 2, "eve": -3}),
    ]
    found = course("knockout", blocks, places={"dan": 1, "ann": 2, "eve": 3, "bob": 4, "cat": 5})
    assert [one.byes for one in found.rounds] == [("dan", "eve"), ()]


def test_a_swiss_has_its_rounds_with_byes() -> None:
    blocks = [
        (1, "round 1", {"ann": 3, "bob": 0, "cat": -3}),
        (2, "round 2", {"ann": 3, "bob": 0, "dan": -3}),
    ]
    found = course("swiss", blocks)
    assert [(one.round, one.byes) for one in found.rounds] == [(1, ("dan",)), (2, ("cat",))]
    assert [one.score for one in found.rounds[0].tables[0].bots] == [3, 0, -3]


def test_a_gauntlet_shows_the_challenger_against_each() -> None:
    blocks: list[Played] = [
        (1, "", {"cat": 3, "ann": -1, "bob": -2}),
        (1, "", {"cat": -4, "ann": 4, "dan": 0}),
        (1, "", {"cat": 1, "bob": 1, "dan": -2}),
    ]
    found = course("gauntlet", blocks, challenger="cat")
    assert found.challenger == "cat"
    assert [
        (one.bot, one.blocks, one.matches, one.score, one.opponent_score, one.won)
        for one in sorted(found.against, key=lambda one: one.bot)
    ] == [
        ("ann", 2, 2, -0.5, 1.5, 0.5),
        ("bob", 2, 2, 2.0, -0.5, 0.75),
        ("dan", 2, 2, -1.5, -1.0, 0.5),
    ]


HALVING: list[Played] = [
    (1, "stage 1", {"ann": 9, "bob": 0, "cat": -9}),
    (1, "stage 1", {"ann": 6, "dan": 0, "bob": -6}),
    (1, "stage 1", {"cat": -3, "dan": 1, "bob": 2}),
    (2, "final", {"ann": -1, "bob": 2, "dan": -1}),
    (2, "final", {"ann": -1, "bob": 0, "dan": 1}),
]


def test_a_halving_has_its_stages_and_places_by_the_last_one_reached() -> None:
    result = table("halving", HALVING)
    found = result.course
    assert found is not None
    first, final = found.stages
    assert {one.bot: one.advances for one in first.bots} == {
        "ann": True,
        "bob": True,
        "dan": True,
        "cat": False,
    }
    assert (first.blocks, final.blocks) == (3, 2)
    places = {line.bot: line.place for line in result.standings}
    assert places["cat"] == 4
    assert found.winners == (result.standings[0].bot,)
    # The last stage shows the scores of the table: all blocks count.
    assert [(one.bot, one.score) for one in final.bots] == [
        (line.bot, line.score) for line in result.standings[:3]
    ]
    assert result.to_dict()["places"] == [line.bot for line in result.standings]


def test_a_halving_has_no_places_before_its_end() -> None:
    result = table("halving", HALVING[:4], finished=False)
    assert {line.place for line in result.standings} == {None}
    assert result.course is not None
    assert result.course.winners == ()


@pytest.mark.parametrize("format", ["knockout", "swiss", "halving", "gauntlet"])
def test_a_cup_without_a_match_has_no_course(format: str) -> None:
    empty = run_of([], bots=["ann", "bob", "cat"], format=cup(format=format).format)
    assert standings(empty).course is None
