"""What the intervals promise is shown by simulation: seeded, so the same every time."""

import math
import random
from collections.abc import Callable

import numpy as np
import pytest
from _pytest.mark import ParameterSet
from hypothesis import given, settings
from hypothesis import strategies as st

import games
from tournament.ranking.arrays import Floats
from tournament.ranking.bootstrap import UNKNOWN, Interval
from tournament.ranking.effects import fit
from tournament.ranking.observations import Observations, from_blocks, observe
from tournament.ranking.rank_ranges import settled_pairs
from tournament.ranking.score_intervals import score_intervals

Blocks = Callable[[np.random.Generator, int], Floats]


def slow(blocks: int) -> ParameterSet:
    return pytest.param(blocks, marks=pytest.mark.slow)


def one_table(points: Floats) -> Observations:
    """Blocks of one table: a row of points a deal for each."""
    return from_blocks(points, np.ones(points.shape, bool))


def intervals(points: Floats) -> list[Interval]:
    data = one_table(points)
    return score_intervals(data, fit(data))


def heavy(random: np.random.Generator, blocks: int) -> Floats:
    """Points of three equal bots in blocks of three rotations, with tails like Dou Dizhu's.

    The deal decides which seat is strong, every seating plays it anew for another stake.
    """
    strong = random.integers(0, 3, blocks)
    chance = random.beta(2, 2, blocks)
    totals = np.zeros((blocks, 3))
    for turn in range(3):
        stake = random.integers(1, 4, blocks) * 2 ** np.minimum(random.geometric(0.7, blocks), 4)
        won = np.where(random.random(blocks) < chance, 1, -1)
        for bot in range(3):
            alone = strong == (bot + turn) % 3
            totals[:, bot] += stake * won * np.where(alone, 2, -1)
    return totals / 3


def skewed(random: np.random.Generator, blocks: int) -> Floats:
    """Tricks above a target, as in 9-5-2: never negative, mostly nothing."""
    answer: Floats = np.maximum(0, random.poisson(3.0, (blocks, 3, 3)) - 3).mean(axis=2)
    return answer


@pytest.fixture(scope="module")
def real() -> Blocks:
    """Draws blocks out of 400 that random bots played at real Dou Dizhu."""
    game, dice = games.get("doudizhu"), random.Random(20260320)
    totals = np.zeros((400, 3))
    for block in range(len(totals)):
        start = game.start(3, f"block {block}", {})
        for turn in range(3):
            state = start
            while state.turn is not None:
                state = state.advance(dice.choice(state.moves()))
            for bot in range(3):
                totals[block, bot] += state.scores[(bot + turn) % 3]
    # Equal bots: whose points are whose is a matter of names.
    pool = np.concatenate([totals[:, [i, (i + 1) % 3, (i + 2) % 3]] for i in range(3)]) / 3
    return lambda generator, blocks: pool[generator.integers(0, len(pool), blocks)]


def coverage(make: Blocks, blocks: int, true: float, cups: int = 1000) -> float:
    generator = np.random.default_rng(blocks)
    hits = [
        interval.low is not None
        and interval.high is not None
        and interval.low <= true <= interval.high
        for _ in range(cups)
        for interval in intervals(make(generator, blocks))
    ]
    return float(np.mean(hits))


@pytest.mark.parametrize("blocks", [3, 40, *(slow(n) for n in (5, 10, 20, 30))])
def test_equal_bots_at_dou_dizhu_have_their_true_score_inside_95_times_in_100(
    blocks: int, real: Blocks
) -> None:
    assert 0.93 <= coverage(real, blocks, 0.0) <= 0.97


@pytest.mark.parametrize("blocks", [5, slow(20), slow(40)])
def test_so_have_they_where_tails_are_heavy(blocks: int) -> None:
    assert 0.93 <= coverage(heavy, blocks, 0.0) <= 0.97


@pytest.mark.parametrize("blocks", [20, slow(40)])
def test_so_have_they_where_points_are_skewed(blocks: int) -> None:
    true = sum(max(0, k - 3) * math.exp(-3) * 3**k / math.factorial(k) for k in range(60))
    assert 0.93 <= coverage(skewed, blocks, true) <= 0.97


def test_equal_bots_at_dou_dizhu_are_put_in_no_order_95_times_in_100(real: Blocks) -> None:
    generator = np.random.default_rng(7)
    ordered = [
        settled_pairs(fit(one_table(real(generator, 30))), str(cup)).any() for cup in range(300)
    ]
    assert np.mean(ordered) <= 0.06


def test_one_block_tells_nothing() -> None:
    assert intervals(np.array([[5.0, 0.0, -5.0]])) == [UNKNOWN] * 3


def test_two_blocks_give_a_wide_interval() -> None:
    # Student's quantile with one degree of freedom is 12.706; the score is 1, its error 1.
    interval = intervals(np.array([[0.0, 0.0, 0.0], [2.0, 0.0, -2.0]]))[0]
    assert interval.low == pytest.approx(1 - 12.706, abs=1e-3)
    assert interval.high == pytest.approx(1 + 12.706, abs=1e-3)


@pytest.mark.parametrize(("blocks", "chance"), [(2, 0.7764), (100, 0.0295)])
def test_equal_blocks_still_leave_room_for_one_that_is_not(blocks: int, chance: float) -> None:
    # The chance of an unlike block is below 1 - 0.05 ** (1 / n) at 95 %; the bot's own seat
    # might have brought it -1 instead of 1, 2 points off.
    first, second, _ = intervals(np.tile([1.0, 0.0, -1.0], (blocks, 1)))
    assert (first.low, first.high) == pytest.approx((1 - 2 * chance, 1 + 2 * chance), abs=1e-3)
    assert (second.low, second.high) == pytest.approx((-chance, chance), abs=1e-3)


def test_blocks_weigh_by_their_deals() -> None:
    seats = np.array([(0, 1, 2)] * 2)
    scores = np.array([(6, -3, -3), (1, 0, -1)])
    data = observe(np.arange(2), np.array([3, 1]), seats, scores, 3)
    assert fit(data).score[0] == 7 / 4


tables = st.lists(st.tuples(*[st.integers(-200, 200)] * 3), min_size=2, max_size=12)


@settings(max_examples=40, deadline=None)
@given(tables, st.integers(-50, 50))
def test_a_constant_on_every_deal_shifts_the_interval(
    totals: list[tuple[int, int, int]], more: int
) -> None:
    here, there = intervals(np.array(totals) / 3), intervals(np.array(totals) / 3 + more)
    for one, two in zip(here, there, strict=True):
        assert one.known == two.known
        if not one.known:
            continue
        assert two.low == pytest.approx((one.low or 0.0) + more, abs=1e-6)
        assert two.high == pytest.approx((one.high or 0.0) + more, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(tables)
def test_the_score_lies_inside(totals: list[tuple[int, int, int]]) -> None:
    points = np.array(totals) / 3
    data = one_table(points)
    found = fit(data)
    for bot, interval in enumerate(score_intervals(data, found)):
        score = found.score[bot]
        assert interval.known == bool(np.ptp(points) > 0)
        if not interval.known:
            continue
        assert (interval.low or 0.0) - 1e-8 <= score <= (interval.high or 0.0) + 1e-8
