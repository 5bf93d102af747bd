"""Small versions of `benchmarks/ranking/false_ranges.py`, seeded: what its table claims, it holds.

The aim is 6 in 100; the limits allow for the number of cups (binomial, about 2 in 1000 by
chance if exactly 5 in 100 are false).
"""

import numpy as np
import pytest

from benchmarks.ranking.false_claims import (
    at_any_time,
    fixed,
    missed,
    paired_by_results,
    watched,
    watched_halving,
)
from benchmarks.ranking.recall import by_halving, by_round_robin, by_swiss, halving_blocks, recall
from benchmarks.ranking.simulated_cups import (
    NOISES,
    Draw,
    gauntlet,
    halving,
    knockout,
    normal,
    round_robin,
    spaced,
    strong,
    swiss,
)
from tournament.ranking.arrays import Floats


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("bots", "deals", "cups"), [(3, 10, 120), (4, 4, 100), (10, 1, 40)])
def test_equal_bots_are_put_in_no_order(bots: int, deals: int, cups: int, noise: str) -> None:
    found = fixed(round_robin(deals), np.zeros(bots), NOISES[noise], cups)
    assert found.false <= cups * 0.05 + 3 * (cups * 0.05) ** 0.5


@pytest.mark.parametrize(
    ("draw", "effects"),
    [
        (gauntlet(3), spaced(12, 2.0)),
        (gauntlet(2), strong(12)),
        (knockout(10), np.zeros(12)),
        (knockout(10), spaced(12, 2.0)),
    ],
)
def test_no_format_contradicts_the_true_order(draw: Draw, effects: Floats) -> None:
    assert fixed(draw, effects, normal, 40).false <= 6


@pytest.mark.parametrize("effects", [np.zeros(30), strong(30)])
def test_pairing_by_results_needs_and_keeps_wider_ranges(effects: Floats) -> None:
    # Seating winners with winners makes chance look like a difference of two groups: ranges
    # that do not allow for it are false in every fourth cup.
    two_valued = NOISES["two-valued"]
    assert fixed(swiss(6, 5), effects, two_valued, 15, paired_by_results).false <= 2


def test_ranges_of_a_fixed_design_do_not_hold_for_swiss() -> None:
    assert fixed(swiss(6, 5), np.zeros(30), NOISES["two-valued"], 15).false >= 4


@pytest.mark.parametrize("effects", [np.zeros(12), strong(12)])
def test_a_halving_puts_no_bots_in_a_false_order(effects: Floats) -> None:
    assert fixed(halving(10), effects, normal, 40, at_any_time).false <= 5
    assert watched_halving(12, 10, NOISES["two-valued"], 10).false <= 2


def test_a_halving_finds_the_top_with_fewer_blocks() -> None:
    """Of 30 bots, the top 3 that a round-robin finds only with half as many blocks again."""
    found = recall(by_halving(5), 100)
    assert found > recall(by_round_robin(3 * halving_blocks(5) // 2), 100)
    assert found > recall(by_swiss(5), 50)


@pytest.mark.parametrize("noise", ["normal", "t3", "skewed"])
def test_a_watched_round_robin_grows_no_false_order(noise: str) -> None:
    assert watched(3, 100, 5, NOISES[noise], 40).false <= 6


@pytest.mark.parametrize("noise", ["normal", "t3", "doubled"])
def test_the_true_score_is_inside_95_times_in_100(noise: str) -> None:
    for draw, effects in ((round_robin(6), np.zeros(3)), (gauntlet(2), strong(12))):
        count = missed(draw, effects, NOISES[noise], 60)
        assert 0.01 * count.of <= count.false <= 0.09 * count.of


def test_large_differences_are_settled() -> None:
    found = fixed(round_robin(10), np.array([2.0, 0.0, -2.0]), normal, 10)
    assert found.false == 0
