"""Small versions of `benchmarks/ranking/ladders.py`, seeded, and what the proof rests on."""

from itertools import pairwise

import numpy as np
import pytest

from benchmarks.ranking.ladders import rows, season, seasons
from benchmarks.ranking.recall import by_ladder, by_round_robin, recall
from benchmarks.ranking.simulated_cups import normal, observed, simulated, spaced
from tests.support.exact_points import exact
from tournament.ranking.arrays import LEVEL
from tournament.ranking.evidence import Evidence, drawn_evidence
from tournament.ranking.ranks import settled_by_arrival


@pytest.mark.parametrize("which", range(5))
def test_no_look_at_a_ladder_shows_a_false_order(which: int) -> None:
    _, effects, plays = list(rows())[which]
    assert seasons(effects, plays, 3, 800, seed=4).false == 0


def test_what_is_settled_grows_to_a_third_of_the_pairs_that_stay() -> None:
    effects = spaced(12, 2.0)
    play = simulated(effects, normal)
    looks = list(season(np.random.default_rng(3), 12, play, "seed", 2_000))
    assert looks[-1].sum() > 0.4 * 66
    assert all(after.sum() >= before.sum() - 3 for before, after in pairwise(looks))


def test_a_ladder_finds_the_top_sooner_than_even_tables() -> None:
    assert recall(by_ladder(200), 30) > recall(by_round_robin(200), 60) + 3


def evidence_of(count: int, bots: int) -> Evidence:
    """Every bot was better in each of so many blocks than those after it."""
    sign = np.sign(np.subtract.outer(-np.arange(bots), -np.arange(bots))).astype(np.float64)
    many = np.full((bots, bots), float(count))
    return Evidence(many * sign, many, many, many, many, many, count)


def test_the_chances_of_an_error_add_up_to_five_in_a_hundred_however_many_come() -> None:
    """Found by how much evidence a pair needs: the chance of one that arrives later is smaller."""
    arrival = np.arange(1, 41)
    needed = [
        next(
            count for count in range(1, 200)
            if settled_by_arrival(evidence_of(count, 2), np.array([1, later])).any()
        )
        for later in (2, 10, 40)
    ]  # fmt: skip
    assert needed[0] < needed[1] < needed[2] < 60
    none = settled_by_arrival(evidence_of(needed[0], 40), arrival)
    assert none.sum() == 1
    assert LEVEL == 0.95


def test_order_of_arrival_and_nothing_else_decides_how_sure_a_pair_must_be() -> None:
    found = evidence_of(20, 3)
    first = settled_by_arrival(found, np.array([1, 2, 3]))
    assert first.sum() == 3
    assert settled_by_arrival(found, np.array([1, 2, 900]))[:, 2].sum() == 0


def test_all_bots_of_a_draw_are_compared_and_of_different_draws_none() -> None:
    seats = np.array([(0, 1, 2), (3, 4, 5), (0, 1, 3), (2, 4, 5)])
    points = exact(np.random.default_rng(1), seats)
    found = drawn_evidence(observed(seats, points, 6, np.array([7, 7, 8, 9])))
    assert found.items[0].tolist() == [0, 2, 1, 2, 1, 1]
    assert found.items[3].tolist() == [2, 2, 1, 0, 1, 1]
    assert found.total[0, 4] == pytest.approx(points[0, 0] - points[1, 1])
    assert found.squares[0, 4] == pytest.approx((points[0, 0] - points[1, 1]) ** 2)
    assert (found.total == -found.total.T).all()
