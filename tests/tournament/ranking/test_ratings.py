import random
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tournament.ranking.arrays import Ints
from tournament.ranking.ratings import (
    MEAN,
    SCALE,
    Comparisons,
    Rating,
    compare,
    rating_groups,
    ratings,
    strengths,
)

ALONE = (0, 1, 2)

Match = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def rated(
    matches: Sequence[Match],
    *,
    bots: int = 3,
    block: list[int] | None = None,
    seed: str = "s",
) -> list[Rating]:
    """Ratings from (bots, scores, sides) of each match, one block each unless given."""
    data = comparisons(matches, bots=bots, block=block)
    blocks = np.asarray(block if block is not None else range(len(matches)))
    seats = np.array([match[0] for match in matches])
    of_bot = [len(np.unique(blocks[(seats == bot).any(axis=1)])) for bot in range(bots)]
    return ratings(data, of_bot, seed)


def comparisons(
    matches: Sequence[Match],
    *,
    bots: int = 3,
    block: list[int] | None = None,
) -> Comparisons:
    seats, scores, sides = (np.array([match[i] for match in matches], np.int64) for i in range(3))
    blocks = np.array(block if block is not None else range(len(matches)), np.int64)
    return compare(seats, scores, sides, blocks, bots)


def as_rows(data: Comparisons) -> list[tuple[int, int, int, int]]:
    return [
        (int(a), int(b), int(n), int(h))
        for a, b, n, h in zip(data.first, data.second, data.games, data.halves, strict=True)
    ]


def test_more_points_win_and_equal_points_are_half_a_win() -> None:
    data = comparisons([((0, 1, 2), (4, 1, 1), ALONE)])
    assert as_rows(data) == [(0, 1, 1, 2), (0, 2, 1, 2), (1, 2, 1, 1)]


def test_seats_of_one_side_are_not_compared() -> None:
    # Seat 2 is the landlord; seats 0 and 1 played together.
    data = comparisons([((0, 1, 2), (-2, -2, 4), (1, 1, 0))])
    assert as_rows(data) == [(0, 2, 1, 0), (1, 2, 1, 0)]


def test_a_bot_is_not_compared_with_its_copy() -> None:
    data = comparisons([((0, 1, 0), (3, 1, -4), ALONE)], bots=2)
    assert as_rows(data) == [(0, 1, 2, 2)]


def test_seatings_of_a_block_are_added_up() -> None:
    matches = [((0, 1, 2), (2, 1, 0), ALONE), ((1, 2, 0), (2, 1, 0), ALONE)]
    assert as_rows(comparisons(matches, block=[0, 0])) == [(0, 1, 2, 2), (0, 2, 2, 2), (1, 2, 2, 4)]


def test_two_bots_have_the_textbook_rating() -> None:
    # 30 of 40 with half a win and half a loss each against the average: 400 log10(odds), nearly.
    matches = [((0, 1), (1, 0) if k < 30 else (0, 1), (0, 1)) for k in range(40)]
    strong, weak = rated(matches, bots=2)
    assert strong.value + weak.value == pytest.approx(2 * MEAN)
    assert strong.value - weak.value == pytest.approx(400 * np.log10(30 / 10), rel=0.02)


def test_the_maximum_is_one() -> None:
    """The slope of the likelihood vanishes there."""
    wins = np.array([[[0, 8, 3], [2, 0, 9], [4, 0.5, 0]]])
    beta = strengths(wins, np.full((1, 2), 0.5), np.zeros((1, 3)))[0]
    chance = 1 / (1 + np.exp(-(beta[:, None] - beta[None, :])))
    alone = 1 / (1 + np.exp(-beta))
    slope = (wins[0] - (wins[0] + wins[0].T) * chance).sum(axis=1) + 0.5 - alone
    assert slope == pytest.approx(np.zeros(3), abs=1e-9)


@pytest.mark.parametrize("start", [-30.0, 0.0, 30.0])
def test_the_search_arrives_from_anywhere(start: float) -> None:
    wins = np.array([[[0, 1000, 1000], [0, 0, 5], [0, 5, 0.0]]])
    prior = np.full((1, 2), 0.5)
    beta = strengths(wins, prior, np.array([[start, -start, start]]))
    assert beta == pytest.approx(strengths(wins, prior, np.zeros((1, 3))), abs=1e-7)


def test_equal_results_give_equal_ratings_and_their_mean_is_1500() -> None:
    wheel = [((a, (a + 1) % 3, (a + 2) % 3), (1, 0, -1), ALONE) for a in range(3)] * 7
    values = [rating.value for rating in rated(wheel)]
    assert values == pytest.approx([MEAN] * 3, abs=1e-6)


def test_who_always_won_has_a_finite_rating_and_a_wide_interval() -> None:
    dice = random.Random(4)
    matches = [((0, 1, 2), (9, dice.randint(0, 2), dice.randint(0, 2)), ALONE) for _ in range(40)]
    first, second, third = rated(matches)
    assert first.value > second.value + 200
    low, high = first.interval.low, first.interval.high
    assert low is not None
    assert high is not None
    assert max(second.interval.high or 0, third.interval.high or 0) < low < first.value
    # How much better cannot be known from wins alone.
    assert 300 < high - first.value < 5000


def test_equal_blocks_of_identical_bots_leave_the_rating_wide_open() -> None:
    matches = [(ALONE, (0, 0, 0), ALONE)] * 2
    for rating in rated(matches):
        assert rating.value == MEAN
        assert rating.interval.low is not None
        assert rating.interval.high is not None
        assert rating.interval.low < MEAN - 200
        assert rating.interval.high > MEAN + 200


def test_bots_that_were_never_compared_are_in_different_groups() -> None:
    matches = [((0, 1), (1, -1), (0, 1)), ((4, 3), (1, -1), (0, 1)), ((1, 2), (1, -1), (0, 1))]
    groups = rating_groups(comparisons(matches, bots=6))
    assert groups[0] == groups[1] == groups[2]
    assert groups[3] == groups[4]
    assert len(set(groups)) == 3


def test_one_block_gives_no_interval() -> None:
    for rating in rated([((0, 1, 2), (2, 1, 0), ALONE)] * 3, block=[0, 0, 0]):
        assert not rating.interval.known


def test_partners_that_never_met_as_rivals_have_one_rating() -> None:
    matches = [((0, 1, 2), (-2, -2, 4), (1, 1, 0))] * 10
    one, two, three = rated(matches)
    assert one.value == two.value < three.value


def test_nothing_played_nothing_rated() -> None:
    empty = np.zeros((0, 3), np.int64)
    none = compare(empty, empty, empty, np.zeros(0, np.int64), 0)
    assert ratings(none, [], "s") == []
    with pytest.raises(ValueError, match="one row for each"):
        compare(empty, empty, empty, np.zeros(1, np.int64), 0)


def test_bots_without_a_rival_have_1500_and_no_interval() -> None:
    both = rated([((0, 1), (3, 3), (0, 0))] * 5, bots=2)
    assert [rating.value for rating in both] == [MEAN, MEAN]
    assert not any(rating.interval.known for rating in both)


def equal_cup(generator: np.random.Generator, blocks: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Three equal bots, three rotations a block; the cards favour a seat all through a block."""
    turn = np.arange(3)
    seats = (turn[np.newaxis, :, np.newaxis] + turn[np.newaxis, np.newaxis, :]) % 3
    seats = np.broadcast_to(seats, (blocks, 3, 3)).reshape(-1, 3)
    luck = generator.normal(size=(blocks, 1, 3)) + generator.normal(size=(blocks, 3, 3))
    scores = np.rint(2 * luck).astype(np.int64).reshape(-1, 3)
    return seats, scores, np.broadcast_to(turn, seats.shape), np.repeat(np.arange(blocks), 3)


@pytest.fixture
def quick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tournament.ranking.ratings._RESAMPLES", 300)
        yield


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("blocks", [10, pytest.param(30, marks=pytest.mark.slow)])
def test_equal_bots_have_1500_inside_95_times_in_100(blocks: int) -> None:
    generator = np.random.default_rng(blocks)
    hits = []
    for cup in range(300):
        data = compare(*equal_cup(generator, blocks), 3)
        for rating in ratings(data, [blocks] * 3, f"cup {cup}"):
            low, high = rating.interval.low, rating.interval.high
            hits.append(low is not None and high is not None and low <= MEAN <= high)
    assert 0.93 <= np.mean(hits) <= 0.97


@pytest.fixture(scope="module")
def few() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tournament.ranking.ratings._RESAMPLES", 50)
        yield


scores = st.tuples(*[st.integers(-3, 3)] * 3)
seatings = st.permutations([0, 1, 2, 3]).map(lambda bots: tuple(bots[:3]))
sides = st.sampled_from([ALONE, (0, 1, 1), (1, 0, 1), (1, 1, 0)])
cups = st.lists(st.tuples(seatings, scores, sides), min_size=2, max_size=12)


@pytest.mark.usefixtures("few")
@settings(max_examples=25, deadline=None)
@given(cups, st.randoms(use_true_random=False))
def test_the_order_of_matches_changes_no_digit(
    matches: Sequence[Match], dice: random.Random
) -> None:
    order = dice.sample(range(len(matches)), len(matches))
    assert rated(matches, bots=4) == rated([matches[place] for place in order], bots=4, block=order)


@pytest.mark.usefixtures("few")
@settings(max_examples=25, deadline=None)
@given(cups, st.permutations([0, 1, 2, 3]))
def test_other_names_permute_the_ratings(matches: Sequence[Match], names: list[int]) -> None:
    renamed = [(tuple(names[bot] for bot in bots), points, side) for bots, points, side in matches]
    here, there = rated(matches, bots=4), rated(renamed, bots=4)
    for bot in range(4):
        one, two = here[bot], there[names[bot]]
        assert one.value == pytest.approx(two.value, abs=2e-6)
        assert one.interval.low == pytest.approx(two.interval.low, abs=1e-4)
        assert one.interval.high == pytest.approx(two.interval.high, abs=1e-4)


@pytest.mark.usefixtures("few")
@settings(max_examples=25, deadline=None)
@given(cups)
def test_the_mean_is_1500(
    matches: Sequence[Match],
) -> None:
    assert np.mean([rating.value for rating in rated(matches, bots=4)]) == pytest.approx(1500)


def test_the_scale_is_elos() -> None:
    # 400 points are odds of ten to one.
    assert pytest.approx(10) == np.exp(400 / SCALE)
