"""`[stop] top = k`: the same end at fixed looks, and only if the top bots are settled."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.support.tournament.formats import BEGUN, Known, cup, observed, plan
from tests.support.tournament.memory_run import run_of
from tests.support.tournament.standings import match
from tournament.config.cup import Cup
from tournament.formats import Plan
from tournament.formats.scores import Scores
from tournament.formats.stopping import Stop
from tournament.ranking.observations import Observations
from tournament.records import Disqualify, Withdraw


class Blocks(Known):
    def __init__(self) -> None:
        super().__init__({})
        self.points: list[dict[str, int]] = []
        self.looks: list[int] = []
        self.out: frozenset[str] = frozenset()

    def disqualified(self, decisions: object, tables: object) -> frozenset[str]:
        return self.out

    def observations(self, bots: Sequence[str], blocks: int) -> Observations:
        assert len(self.points) >= blocks
        self.looks.append(blocks)
        return observed(self.points[:blocks], bots)


def played(schedule: Plan, gap: int, scores: Blocks) -> int:
    """Play: the first two bots have `gap` points more than the others, and luck is up to 3."""
    blocks = 0
    for round in schedule.rounds(BEGUN, scores):
        for block in round.blocks:
            blocks += 1
            if blocks > len(scores.points):
                dice = random.Random(block.seeds[0])
                scores.points.append(
                    {name: dice.randint(-3, 3) + gap * (name < "bot02") for name in block.table}
                )
    return blocks


def of(format: str, top: int = 2, deals: int = 30) -> Cup:
    return replace(cup(6, type=format, deals=deals), stop=Stop(top))


@pytest.mark.parametrize("format", ["round-robin", "halving"])
def test_it_ends_once_the_top_is_settled(format: str) -> None:
    scores = Blocks()
    for _ in range(2):  # a store that was interrupted anywhere leads to the same end
        schedule = plan(of(format, deals=100))
        blocks = played(schedule, 6, scores)
        assert blocks < schedule.blocks
        assert schedule.settled == ("bot00", "bot01")
        assert scores.looks[-1] == blocks == len(scores.points)


@pytest.mark.parametrize("format", ["round-robin", "halving"])
def test_equal_bots_play_all_their_deals(format: str) -> None:
    schedule = plan(of(format, deals=6))
    assert played(schedule, 0, Blocks()) == schedule.blocks
    assert schedule.settled == ()


def test_without_bots_to_be_above_no_bot_is_settled() -> None:
    schedule, scores = plan(of("round-robin", deals=6)), Blocks()
    scores.out = frozenset({"bot02", "bot03", "bot04", "bot05"})
    assert played(schedule, 6, scores) == schedule.blocks
    assert schedule.settled == ()


def test_looks_do_not_depend_on_the_number_of_deals() -> None:
    """So a cup with more deals is the one that would have been from the start."""
    few, many = Blocks(), Blocks()
    played(plan(of("round-robin", deals=10)), 0, few)
    played(plan(of("round-robin", deals=20)), 0, many)
    assert few.looks == [*(look for look in many.looks if look < 200), 200]
    assert few.looks[:3] == [60, 66, 72]


def test_less_confidence_ends_earlier() -> None:
    ends = []
    for confidence in (0.5, 0.999):
        sure = replace(of("round-robin"), stop=Stop(2, confidence))
        ends.append(played(plan(sure), 2, Blocks()))
    assert ends[0] < ends[1]


FIRST, SECOND, THIRD = ("ann", "bob", "cat"), ("bob", "cat", "dan"), ("ann", "bob", "dan")


@pytest.mark.parametrize(
    ("played", "decisions", "counted"),
    [
        ((3, 3, 3), [(8, Disqualify, "dan")], {"dan"}),
        ((3, 3, 3), [(9, Disqualify, "dan")], set()),
        ((3, 0, 0), [(3, Disqualify, "dan")], {"dan"}),
        ((3, 2, 0), [(5, Disqualify, "dan")], {"dan"}),
        ((3, 0, 0), [(3, Withdraw, "dan"), (3, Disqualify, "dan")], set()),
        ((3, 0, 3), [(6, Disqualify, "cat"), (6, Disqualify, "dan")], {"cat"}),
    ],
    ids=[
        *("with a match to play", "after the last match", "with only its own tables to play"),
        *("at its table", "after its tables fell away", "after another at its table"),
    ],
)
def test_a_disqualification_counts_if_it_came_before_the_look(
    played: tuple[int, ...],
    decisions: list[tuple[int, type[Disqualify | Withdraw], str]],
    counted: set[str],
) -> None:
    matches = [
        match(block, number, table, (0, 0, 0))
        for block, (table, many) in enumerate(zip((FIRST, SECOND, THIRD), played, strict=True), 1)
        for number in range(many)
    ]
    made = [
        kind(number=number, at="", bot=bot, after=after)
        for number, (after, kind, bot) in enumerate(decisions, 1)
    ]
    assert Scores(run_of(matches)).disqualified(made, (FIRST, SECOND, THIRD)) == counted
