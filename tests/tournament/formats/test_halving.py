"""Successive halving: who plays which stage, and what decides it."""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.formats import (
    BEGUN,
    Known,
    Results,
    played,
    schedule,
    strength,
)
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
    found = stages(bots, players)
    assert [len(stage) for stage in found] == sizes
    best = sorted(found[0], key=strength, reverse=True)
    for stage in found:
        assert stage == set(best[: len(stage)])


@given(st.integers(3, 6), st.integers(0, 200), st.integers(1, 20))
def test_every_stage_has_as_many_blocks_as_the_first(players: int, more: int, deals: int) -> None:
    stages = halving.stages(players + more, players, deals)
    blocks = [stage.bots // players * stage.seatings for stage in stages]
    assert all(
        blocks[0] <= size < blocks[0] + stage.bots
        for size, stage in zip(blocks, stages, strict=True)
    )
    assert stages[-1].bots == players


def test_nobody_sits_out_twice_before_everybody_has() -> None:
    blocks, _ = played(schedule(11, 3, type="halving", deals=11))
    played_in = Counter(name for block in blocks if block.round == 1 for name in block.table)
    assert set(played_in.values()) == {9}


def test_everybody_plays_even_with_one_deal() -> None:
    assert len(stages(11, 3, deals=1)[0]) == 11


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
                name: Fraction(lead if name == "bot05" else 0) for name in block.table
            }
            for block in blocks
        }
    assert all("bot05" in bots for bots in reached.values())


def test_equal_bots_play_on_by_a_draw_from_the_seed() -> None:
    finals = set()
    for seed in map(str, range(6)):
        blocks, _ = played(
            schedule(9, type="halving", deals=2, seed=seed), lambda name: Fraction(0)
        )
        finals.add(next(block.table for block in blocks if block.stage == "final"))
    assert len(finals) > 3
