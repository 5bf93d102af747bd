from collections.abc import Sequence
from typing import Any

from tests.support.tournament.memory_run import run_of
from tests.support.tournament.played import cup
from tests.support.tournament.standings import match
from tournament.display.formatting import bracket_note, stage_title
from tournament.results.course import Against, Course, CourseTable, against
from tournament.results.course import course as course_of
from tournament.results.match_arrays import collect
from tournament.results.standings import Standings, standings

Played = tuple[int, str, dict[str, int]]  # a block of one match: round, stage, and points
KNOCKOUT: list[Played] = [
    (1, "semi-final", {"ann": 3, "bob": 0, "cat": -3}),
    (1, "semi-final", {"dan": 2, "eve": 1, "fay": -3}),
    (1, "semi-final", {"gil": 2, "hal": 2, "ivy": -4}),
    (2, "final", {"ann": 0, "dan": 0, "hal": 0}),
    (2, "bronze", {"bob": 4, "eve": 0, "gil": -4}),
]
HALVING: list[Played] = [
    (1, "stage 1", {"ann": 9, "bob": 0, "cat": -9}),
    (1, "stage 1", {"ann": 6, "dan": 0, "bob": -6}),
    (1, "stage 1", {"cat": -3, "dan": 1, "bob": 2}),
    (2, "final", {"ann": -1, "bob": 2, "dan": -1}),
    (2, "final", {"ann": -1, "bob": 0, "dan": 1}),
]


def table(format: str, blocks: Sequence[Played], **about: Any) -> Standings:
    matches = [
        match(number, 0, tuple(points), tuple(points.values()))._replace(round=round, stage=stage)
        for number, (round, stage, points) in enumerate(blocks, 1)
    ]
    return standings(run_of(matches, format=cup(format=format).format, **about))


def course(format: str, blocks: Sequence[Played], **about: Any) -> Course:
    result = table(format, blocks, **about).course
    assert result is not None
    return result


def test_a_stage_has_a_title_for_a_reader() -> None:
    stages = ["", "round 3", "stage 1", "semi-final", "epoch 12, even 3", "epoch x", "group a"]
    titles = ["Round 2", "Round 3", "Stage 1", "Semi-final", "Epoch 12", "Epoch x", "Group a"]
    assert [stage_title(stage, 2) for stage in stages] == titles
    assert len(stage_title("round " + "9" * 5000, 2)) == 40


def advances(tables: Sequence[CourseTable]) -> list[dict[str, bool | None]]:
    return [{seated.bot: seated.advances for seated in table.bots} for table in tables]


def test_a_knockout_has_its_bracket_and_its_winner() -> None:
    order = ("ann", "dan", "hal", "bob", "eve", "gil", "cat", "fay", "ivy")
    places = {bot: place for place, bot in enumerate(order, 1)}
    begun = course("knockout", KNOCKOUT[:1], places=places, finished=False)
    assert begun.rounds[0].byes == ()  # the other tables have not begun
    result = course("knockout", KNOCKOUT, places=places)
    assert result.winners == ("ann",)
    first, last = result.rounds
    assert list(map(list, map(dict.items, advances(first.tables)))) == [
        [("ann", True), ("bob", False), ("cat", False)],
        [("dan", True), ("eve", False), ("fay", False)],
        [("hal", True), ("gil", False), ("ivy", False)],
    ]
    assert [table.stage for table in last.tables] == ["final", "bronze"]
    # Equal points: the order is that of the places, which the tie-breaks have decided.
    assert list(advances(last.tables)[0].items()) == [("ann", None), ("dan", None), ("hal", None)]
    assert set(advances(last.tables)[1].values()) == {None}
    tie = "hal plays on before gil, with equal points, by the mean of all rounds so far, or if"
    assert bracket_note(first, first.tables[2]).startswith(tie)
    assert bracket_note(first, first.tables[0]) == ""
    assert bracket_note(last, last.tables[1]) == "For place 4 and those after it."
    # Before the next round, no bot is out.
    result = course("knockout", KNOCKOUT[:3], finished=False)
    assert result.winners == ()
    undecided = [dict.fromkeys(table) for table in advances(result.rounds[0].tables)]
    assert advances(result.rounds[0].tables) == undecided
    result = course("knockout", KNOCKOUT[:4], finished=False)
    assert advances(result.rounds[0].tables)[2] == {"hal": True, "gil": False, "ivy": False}


def test_a_bot_without_a_table_in_a_round_has_a_bye() -> None:
    first: Played = (1, "semi-final", {"ann": 3, "bob": 0, "cat": -3})
    places = {"dan": 1, "ann": 2, "eve": 3, "bob": 4, "cat": 5}
    final: Played = (2, "final", {"ann": 1, "dan": 2, "eve": -3})
    knockout = course("knockout", [first, final], places=places)
    assert [round.byes for round in knockout.rounds] == [("dan", "eve"), ()]
    swiss = course("swiss", [first, (2, "round 2", {"ann": 3, "bob": 0, "dan": -3})])
    assert [(round.round, round.byes) for round in swiss.rounds] == [(1, ("dan",)), (2, ("cat",))]
    assert [seated.score for seated in swiss.rounds[0].tables[0].bots] == [3, 0, -3]
    begins: list[Played] = [first, (1, "", {"dan": 1, "eve": 2, "fay": -3}), (2, "", first[2])]
    assert [round.byes for round in course("swiss", begins, finished=False).rounds] == [(), ()]


def test_a_gauntlet_shows_the_challenger_against_each_bot() -> None:
    blocks: list[Played] = [
        (1, "", {"ann": 3, "bob": -1, "cat": -2}),
        (1, "", {"ann": -4, "bob": 4, "dan": 0}),
        (1, "", {"ann": 1, "cat": 1, "dan": -2}),
    ]
    result = course("gauntlet", blocks)
    assert result.challenger == "ann"
    assert sorted(result.against, key=lambda against: against.bot) == [
        Against("bob", blocks=2, matches=2, score=-0.5, opponent_score=1.5, won=0.5),
        Against("cat", blocks=2, matches=2, score=2.0, opponent_score=-0.5, won=0.75),
        Against("dan", blocks=2, matches=2, score=-1.5, opponent_score=-1.0, won=0.5),
    ]


def test_a_bot_with_several_seats_has_each_match_once() -> None:
    matches = [
        match(1, 0, ("ann", "ann", "bob"), (3, 1, -4)),
        match(1, 1, ("ann", "bob", "bob"), (-6, 3, 3)),
    ]
    (result,) = against(collect(matches), "ann")
    assert result == Against("bob", blocks=1, matches=2, score=-2.0, opponent_score=-0.5, won=0.5)
    arrays = collect([match(1, 0, ("ann", "bob", "cat"), (1, 2, -3))])
    places = {"ann": 1, "bob": 0, "cat": 2}
    gauntlet = course_of(arrays, run_of([], format=cup(format="gauntlet").format).run(), places)
    assert gauntlet is not None
    assert [line.bot for line in gauntlet.against] == ["cat", "bob"], "without a place, last"


def test_a_halving_has_stages_and_at_its_end_places() -> None:
    result = table("halving", HALVING)
    assert result.course is not None
    first, final = result.course.stages
    assert advances([first]) == [{"ann": True, "bob": True, "dan": True, "cat": False}]
    assert (first.blocks, final.blocks) == (3, 2)
    assert [line.place for line in result.standings if line.bot == "cat"] == [4]
    assert result.course.winners == (result.standings[0].bot,)
    # The last stage shows the scores of the table: all blocks count.
    assert [(seated.bot, seated.score) for seated in final.bots] == [
        (line.bot, line.score) for line in result.standings[:3]
    ]
    assert result.to_dict()["places"] == [line.bot for line in result.standings]
    under_way = table("halving", HALVING[:4], finished=False)
    assert {line.place for line in under_way.standings} == {None}
    assert under_way.course is not None
    assert under_way.course.winners == ()


def test_a_cup_without_a_match_has_no_course() -> None:
    for format in ("knockout", "swiss", "halving", "gauntlet"):
        assert table(format, [], bots=["ann", "bob", "cat"]).course is None
