"""The fit: exact where it must be, right where opponents differ, silent where nothing is known."""

from itertools import combinations, permutations

import numpy as np
import pytest

from tools.simulation import simulated_cups as cups
from tools.simulation.claims import anytime, final
from tournament.ranking.arrays import UNKNOWN, Floats, Interval, Ints
from tournament.ranking.effects import fit, score_intervals
from tournament.ranking.observations import Observations, observe
from tournament.ranking.ranks import rank_ranges

STRENGTHS = np.linspace(1.0, -1.0, 12)


def exact(random: np.random.Generator, seats: Ints) -> Floats:
    """The points of up to twelve bots, without noise."""
    return cups.simulated(STRENGTHS, lambda _, n: np.zeros((n, 3)))(random, seats)


def matches(
    bots: int, deals: int, tables: list[tuple[int, ...]] | None = None
) -> tuple[Ints, Ints, Ints, Ints]:
    """Block, deals, seats and scores of matches: three rotations of each table and deal."""
    seats = np.array((tables or list(combinations(range(bots), 3))) * deals)
    block = np.repeat(np.arange(len(seats)), 3)
    turned = np.stack([np.roll(seats, -turn, axis=1) for turn in range(3)], axis=1).reshape(-1, 3)
    scores = np.random.default_rng(5).integers(-9, 10, turned.shape)
    return block, np.full(len(block), 2), turned, scores


def intervals(data: Observations) -> list[Interval]:
    return score_intervals(data, fit(data), np.ones(data.bots, bool))


@pytest.mark.parametrize(("bots", "deals"), [(3, 1), (3, 4), (4, 2), (7, 1)])
def test_in_a_complete_round_robin_the_score_is_the_plain_mean(bots: int, deals: int) -> None:
    block, deals_, seats, scores = matches(bots, deals)
    fitted = fit(observe(block, deals_, seats, scores, bots))
    assert list(fitted.score) == [scores[seats == bot].mean() / 2 for bot in range(bots)]


def test_the_fit_of_a_balanced_zero_sum_cup_is_its_plain_mean() -> None:
    # One block more or less must not make the score jump: the same cup, one table once more.
    random = np.random.default_rng(1)
    data = cups.round_robin(40)(random, 5, exact)
    seats = np.concatenate((data.seated, [[0, 1, 2]]))
    points = exact(random, seats)
    assert fit(cups.observed(seats, points, 5)).score == pytest.approx(data.plain, abs=1e-9)


@pytest.mark.parametrize("draw", [cups.gauntlet(1), cups.swiss(4, 1), cups.round_robin(1)])
def test_without_noise_the_scores_are_the_true_ones(draw: cups.Draw) -> None:
    data = draw(np.random.default_rng(2), 12, exact)
    assert fit(data).score == pytest.approx(STRENGTHS * 12 / 11, abs=1e-9)


def test_a_duel_with_several_seats_is_one_difference_a_block() -> None:
    seats = np.array([(0, 0, 1), (0, 1, 0), (1, 1, 0), (1, 0, 1)])
    scores = np.array([(1, 1, -2), (1, -2, 1), (-1, -1, 2), (-1, 2, -1)])
    data = observe(np.zeros(4, np.int64), np.ones(4, np.int64), seats, scores, 2)
    assert data.blocks == 1
    assert list(data.points) == [8 / 6, -8 / 6]
    assert list(fit(data).score) == [8 / 6, -8 / 6]


def everything(data: Observations) -> list[object]:
    ranks = rank_ranges(final(data)), rank_ranges(anytime(data))
    return list(zip(fit(data).score.tolist(), intervals(data), *ranks, strict=True))


@pytest.mark.parametrize("tables", [None, [(0, 1, 2), (1, 2, 3), (0, 3, 4), (2, 3, 4)] * 6])
def test_order_of_matches_seats_and_names_changes_no_digit(
    tables: list[tuple[int, ...]] | None,
) -> None:
    block, deals, seats, scores = matches(5, 4, tables)
    scores = scores + 6 * (seats == 0)
    first = everything(observe(block, deals, seats, scores, 5))
    random = np.random.default_rng(8)
    for name in list(permutations(range(5)))[::17]:
        rows, columns = random.permutation(block.size), random.permutation(3)
        renamed = np.array(name)[seats[rows]][:, columns]
        data = observe(block[rows], deals[rows], renamed, scores[rows][:, columns], 5)
        again = everything(data)
        assert [again[new] for new in name] == first


@pytest.mark.parametrize(
    ("points", "blocks", "ties", "settled"),
    [
        ([1.0, 0.0, -1.0], 6, 0, set()),
        ([1.0, 0.0, -1.0], 7, 0, {(0, 1), (0, 2), (1, 2)}),
        ([1.0, 0.0, -1.0], 5, 45, set()),
        ([1.0, 1.0, -2.0], 400, 0, {(0, 2), (1, 2)}),
    ],
    ids=["too few signs", "enough signs", "ties are no evidence", "equal bots stay equal"],
)
def test_constant_differences_settle_once_signs_alone_could(
    points: list[float], blocks: int, ties: int, settled: set[tuple[int, int]]
) -> None:
    table = np.array([points] * blocks + [[0.0] * 3] * ties)
    result = final(cups.from_blocks(table, np.ones(table.shape, bool)))
    assert set(zip(*np.nonzero(result), strict=True)) == settled


def test_stratifying_by_table_takes_out_what_a_table_brings() -> None:
    # Points depend on the table beyond the effects; within a table they hardly vary.
    random = np.random.default_rng(4)
    tables = np.array(list(combinations(range(5), 3)))
    of_table = random.normal(size=tables.shape)
    of_table -= of_table.mean(axis=1, keepdims=True)
    seats = np.tile(tables, (6, 1))
    points = np.tile(of_table, (6, 1)) + 0.01 * random.normal(size=seats.shape)
    for interval in intervals(cups.observed(seats, points, 5)):
        assert (interval.high or 9.0) - (interval.low or 0.0) < 0.02


def test_nothing_is_settled_without_blocks_or_residuals() -> None:
    seats = np.array([(0, 1, 2), (2, 3, 4), (4, 5, 6)])
    empty = [cups.from_blocks(np.zeros((0, bots)), np.zeros((0, bots), bool)) for bots in (0, 3)]
    for data in (*empty, cups.observed(seats, np.array([[9.0, 0.0, -9.0]] * 3), 7)):
        assert rank_ranges(final(data)) == [(1, data.bots)] * data.bots
        assert not anytime(data).any()
        assert intervals(data) == [UNKNOWN] * data.bots
