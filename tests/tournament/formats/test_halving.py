"""Successive halving: who plays which stage, and what decides it."""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tournament.formats import BEGUN, Known, Results, played, schedule, strength
from tournament.formats import halving


def stages(bots: int, players: int, deals: int = 4) -> list[set[str]]:
    blocks, _ = played(schedule(bots, players, type="halving", deals=deals))
    return [
        {name for block in blocks if block.round == number for name in block.table}
        for number in sorted({block.round for block in blocks})
    ]


@pytest.mark.parametrize(
    ("bots", "players", "sizes"),
    [
        (30, 3, [30, 15, 9, 6, 3]),
        (30, 4, [30, 16, 8, 4]),
        (10, 3, [10, 6, 3]),
        (4, 3, [4, 3]),
        (3, 3, [3]),
        (100, 5, [100, 50, 25, 15, 10, 5]),
    ],
)
def test_the_better_half_plays_on_down_to_one_table(
    bots: int, players: int, sizes: list[int]
) -> None:
    survivors = stages(bots, players)
    assert [len(stage) for stage in survivors] == sizes
    best = sorted(survivors[0], key=strength, reverse=True)
    for stage in survivors:
        assert stage == set(best[: len(stage)])


@given(st.integers(3, 6), st.integers(0, 200), st.integers(1, 20))
def test_every_stage_has_as_many_blocks_as_the_first(players: int, more: int, deals: int) -> None:
    stages = halving.stages(players + more, players, deals)
    first, *_ = blocks = [stage.bots // players * stage.seatings for stage in stages]
    for size, stage in zip(blocks, stages, strict=True):
        assert first <= size < first + stage.bots
    assert stages[-1].bots == players


@pytest.mark.parametrize(("deals", "plays"), [(11, {9}), (1, {1, 2})])
def test_nobody_sits_out_twice_before_everybody_has(deals: int, plays: set[int]) -> None:
    blocks, _ = played(schedule(11, 3, type="halving", deals=deals))
    seats = Counter(name for block in blocks if block.round == 1 for name in block.table)
    assert len(seats) == 11
    assert set(seats.values()) == plays


def test_all_blocks_so_far_decide_who_plays_on() -> None:
    """A bot that was far ahead in the first stage survives a bad second one."""
    results: Results = {}
    reached: dict[int, set[str]] = {}
    for round in schedule(12, type="halving", deals=10).rounds(BEGUN, Known(results)):
        blocks = list(round.blocks)
        reached[round.number] = {name for block in blocks for name in block.table}
        lead = 20 if round.number == 1 else -1
        results[round.number] = {
            (block.stage, block.table): {
                name: Fraction(lead * (name == "bot05")) for name in block.table
            }
            for block in blocks
        }
    assert all("bot05" in bots for bots in reached.values())
