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
from tournament.ranking import bootstrap
from tournament.ranking.bootstrap import (
    UNKNOWN,
    Interval,
    Ints,
    Sample,
    rank_ranges,
    resamples,
    score_intervals,
    small_sample_factor,
)


def slow(blocks: int) -> ParameterSet:
    return pytest.param(blocks, marks=pytest.mark.slow)


Blocks = Callable[[np.random.Generator, int], Ints]


def sample(totals: list[int], deals: int | list[int] = 3, reach: float = 6.0) -> Sample:
    each = [deals] * len(totals) if isinstance(deals, int) else deals
    return Sample(np.array(totals, np.int64), np.array(each, np.int64), reach)


def heavy(random: np.random.Generator, blocks: int) -> Ints:
    """Points of three equal bots in blocks of three rotations, with tails like Dou Dizhu's.

    The deal decides which seat is strong, every seating plays it anew for another stake.
    """
    strong = random.integers(0, 3, blocks)
    chance = random.beta(2, 2, blocks)
    totals = np.zeros((blocks, 3), np.int64)
    for turn in range(3):
        stake = random.integers(1, 4, blocks) * 2 ** np.minimum(random.geometric(0.7, blocks), 4)
        won = np.where(random.random(blocks) < chance, 1, -1)
        for bot in range(3):
            alone = strong == (bot + turn) % 3
            totals[:, bot] += stake * won * np.where(alone, 2, -1)
    return totals


def skewed(random: np.random.Generator, blocks: int) -> Ints:
    """Tricks above a target, as in 9-5-2: never negative, mostly nothing."""
    answer: Ints = np.maximum(0, random.poisson(3.0, (blocks, 3, 3)) - 3).sum(axis=2)
    return answer


@pytest.fixture(scope="module")
def real() -> Blocks:
    """Draws blocks out of 400 that random bots played at real Dou Dizhu."""
    game, dice = games.get("doudizhu"), random.Random(20260320)
    totals = np.zeros((400, 3), np.int64)
    for block in range(len(totals)):
        start = game.start(3, f"block {block}", {})
        for turn in range(3):
            state = start
            while state.turn is not None:
                state = state.advance(dice.choice(state.moves()))
            for bot in range(3):
                totals[block, bot] += state.scores[(bot + turn) % 3]
    # Equal bots: whose points are whose is a matter of names.
    pool = np.concatenate([totals[:, [i, (i + 1) % 3, (i + 2) % 3]] for i in range(3)])
    return lambda generator, blocks: pool[generator.integers(0, len(pool), blocks)]


def coverage(make: Blocks, blocks: int, true: float, cups: int = 1000) -> float:
    generator = np.random.default_rng(blocks)
    hits = []
    for part in range(10):
        bots = []
        for _ in range(cups // 10):
            points = make(generator, blocks)
            bots += [sample(points[:, bot].tolist(), reach=12.0) for bot in range(3)]
        hits += [
            interval.low is not None
            and interval.high is not None
            and interval.low <= true <= interval.high
            for interval in score_intervals(bots, f"cups {part}")
        ]
    return float(np.mean(hits))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand resamples do for simulations; a run's table has ten thousand."""
    monkeypatch.setattr(bootstrap, "_MAX_RESAMPLES", 1_000)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("blocks", [3, 40, *(slow(n) for n in (5, 10, 20, 30))])
def test_equal_bots_at_dou_dizhu_have_their_true_score_inside_95_times_in_100(
    blocks: int, real: Blocks
) -> None:
    assert 0.93 <= coverage(real, blocks, 0.0) <= 0.97


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("blocks", [5, slow(20), slow(40)])
def test_so_have_they_where_tails_are_heavy(blocks: int) -> None:
    assert 0.93 <= coverage(heavy, blocks, 0.0) <= 0.97


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("blocks", [20, slow(40)])
def test_so_have_they_where_points_are_skewed(blocks: int) -> None:
    true = sum(max(0, k - 3) * math.exp(-3) * 3**k / math.factorial(k) for k in range(60))
    assert 0.93 <= coverage(skewed, blocks, true) <= 0.97


@pytest.mark.usefixtures("quick")
def test_two_equal_bots_are_put_in_an_order_less_than_5_times_in_100(real: Blocks) -> None:
    generator = np.random.default_rng(7)
    cups = 1000
    samples = []
    for _ in range(cups):
        points = real(generator, 30)
        samples += [sample(points[:, bot].tolist()) for bot in range(3)]
    intervals = score_intervals(samples, "order")
    settled = sum(
        rank_ranges(intervals[3 * cup : 3 * cup + 2]) != [(1, 2)] * 2 for cup in range(cups)
    )
    assert settled / cups <= 0.05


def test_one_block_tells_nothing() -> None:
    assert score_intervals([sample([5])], "s") == [UNKNOWN]
    assert score_intervals([sample([])], "s") == [UNKNOWN]


def test_two_blocks_give_a_wide_interval() -> None:
    # Student's quantile with one degree of freedom is 12.7; the score is 1, its error 1.
    (interval,) = score_intervals([sample([0, 6])], "s")
    assert interval.low is not None
    assert interval.high is not None
    assert interval.low < -7
    assert interval.high > 9


def test_equal_blocks_still_leave_room_for_one_that_is_not() -> None:
    few, many = score_intervals([sample([0, 0]), sample([0] * 100)], "s")
    # The chance of an unlike block is below 1 - 0.05 ** (1 / n) at 95 %; it may be 6 points off.
    assert (few.low, few.high) == pytest.approx((-0.7764 * 6, 0.7764 * 6), abs=1e-3)
    assert (many.low, many.high) == pytest.approx((-0.0295 * 6, 0.0295 * 6), abs=1e-3)


def test_blocks_weigh_by_their_deals() -> None:
    assert sample([6, 1], [3, 1]).score == 7 / 4
    with pytest.raises(ValueError, match="one deal or more"):
        sample([1], [0])
    with pytest.raises(ValueError, match="two lists of one length"):
        Sample(np.zeros(2, np.int64), np.ones(3, np.int64), 0.0)
    with pytest.raises(ValueError, match="no score"):
        _ = sample([]).score


def test_the_factor_is_students_over_normal_and_tends_to_one() -> None:
    # t(9; 0.975) = 2.262157, z = 1.959964, n/(n-1) = 10/9
    assert small_sample_factor(10) == pytest.approx(2.262157 / 1.959964 * (10 / 9) ** 0.5, rel=1e-6)
    assert small_sample_factor(100_000) == pytest.approx(1.0, abs=1e-4)
    with pytest.raises(ValueError, match="fewer than two"):
        small_sample_factor(1)


def test_resamples_draw_as_many_blocks_as_there_are_and_each_as_often() -> None:
    drawn = np.concatenate(list(resamples(7, "s", "p")))
    assert drawn.shape == (10_000, 7)
    counts = np.stack([np.bincount(row, minlength=7) for row in drawn])
    assert counts.shape == (10_000, 7)
    assert np.all(np.abs(counts.mean(axis=0) - 1) < 0.05)
    assert np.var(counts) == pytest.approx(6 / 7, abs=0.02)


def test_resamples_are_the_same_in_pieces_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.concatenate(list(resamples(8, "s", "p")))
    monkeypatch.setattr(bootstrap, "_CHUNK", 800)
    assert np.array_equal(whole, np.concatenate(list(resamples(8, "s", "p"))))


def test_the_random_numbers_follow_from_the_seed() -> None:
    bot = sample([3, -4, 8, 1, 0, -2])
    first, again, other = (score_intervals([bot], seed)[0] for seed in ("a", "a", "b"))
    assert first == again
    assert first != other


def test_these_digits_stay() -> None:
    """A store gives the same digits with another numpy and on another machine."""
    (interval,) = score_intervals([sample([3, -4, 8, 1, 0, -2])], "2026-spring")
    assert (interval.low, interval.high) == (-1.0235746032266868, 1.849877497723944)


points = st.lists(st.integers(-200, 200), min_size=2, max_size=12)


@settings(max_examples=40, deadline=None)
@given(points, st.randoms(use_true_random=False))
def test_the_order_of_blocks_changes_no_digit(totals: list[int], dice: random.Random) -> None:
    shuffled = dice.sample(totals, len(totals))
    assert score_intervals([sample(totals)], "s") == score_intervals([sample(shuffled)], "s")


@settings(max_examples=40, deadline=None)
@given(points, st.integers(-50, 50))
def test_a_constant_on_every_deal_shifts_the_interval(totals: list[int], more: int) -> None:
    here, there = score_intervals(
        [sample(totals), sample([total + 3 * more for total in totals])], "s"
    )
    assert here.low is not None
    assert here.high is not None
    assert there.low == pytest.approx(here.low + more, abs=1e-9)
    assert there.high == pytest.approx(here.high + more, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(points)
def test_the_score_lies_inside(totals: list[int]) -> None:
    bot = sample(totals)
    (interval,) = score_intervals([bot], "s")
    assert interval.known
    assert (interval.low or 0) <= bot.score + 1e-12
    assert bot.score <= (interval.high or 0) + 1e-12


def test_company_changes_no_digit() -> None:
    one, two = sample([3, 1, 4, 1, 5]), sample([9, 2, 6, 5, 3])
    assert score_intervals([one, two], "s") == [
        score_intervals([one], "s")[0],
        score_intervals([two], "s")[0],
    ]


def test_ranks_are_shared_where_intervals_meet() -> None:
    assert rank_ranges([Interval(5, 6), Interval(1, 3), Interval(3, 4)]) == [(1, 1), (2, 3), (2, 3)]
    # The middle one overlaps both, which do not overlap each other.
    assert rank_ranges([Interval(0, 2), Interval(1, 4), Interval(3, 5)]) == [(2, 3), (1, 3), (1, 2)]


def test_without_an_interval_every_rank_is_possible() -> None:
    assert rank_ranges([Interval(5, 6), UNKNOWN, Interval(1, 2)]) == [(1, 2), (1, 3), (2, 3)]
    assert rank_ranges([]) == []


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=8))
def test_ranges_agree_with_each_other(ends: list[tuple[int, int]]) -> None:
    intervals = [Interval(min(pair), max(pair)) for pair in ends]
    ranges = rank_ranges(intervals)
    for one, mine in zip(intervals, ranges, strict=True):
        assert 1 <= mine[0] <= mine[1] <= len(intervals)
        for two, theirs in zip(intervals, ranges, strict=True):
            apart = (one.low or 0) > (two.high or 0)
            if apart:
                assert mine[0] < theirs[0]
                assert mine[1] < theirs[1]
