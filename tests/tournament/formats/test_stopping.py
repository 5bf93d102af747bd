"""`[stop] top = k`: the same end at fixed looks, and only if the top bots are settled."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.support.tournament.formats import BEGUN, Known, cup, observed, plan
from tournament.config.cup import Cup
from tournament.formats import Plan
from tournament.formats.stopping import Stop
from tournament.ranking.observations import Observations


class Blocks(Known):
    """Scores block by block, as a store keeps them."""

    def __init__(self) -> None:
        super().__init__({})
        self.points: list[dict[str, int]] = []
        self.looks: list[int] = []

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
