"""The interval of a duel's mean difference is valid however skewed, and agrees with the verdict."""

from functools import partial

import numpy as np
import pytest

from tools.simulation.duels import by_bets, log_wealth, mean_blocks, normal_blocks, rare_loss
from tournament.ranking.arrays import UNKNOWN, Interval
from tournament.ranking.betting import Bets, Reach, reach_of


@pytest.mark.parametrize("every", [5, 50])
def test_a_rare_large_loss_names_nobody(every: int) -> None:
    _, *named = mean_blocks(rare_loss(every), partial(by_bets, reach=Reach(float(every))), 60)
    assert sum(named) <= 12


def test_a_tail_forgives_what_it_declares_and_no_more() -> None:
    random = np.random.default_rng(1)
    reach = reach_of(72, bounded=False)
    assert reach == Reach(24.0, 0.005)
    false = 0
    for _ in range(60):
        # One block in 1000 loses 40 points, and the others make up for it.
        points = np.where(random.random(1000) < 0.001, -40.0, random.normal(0.04, 3.3, 1000))
        false += Bets(points, reach, None).settled
    assert false <= 8


@pytest.mark.parametrize("reach", [Reach(10.0), Reach(12.0, 0.02)])
def test_bets_against_the_true_mean_gain_nothing_on_average(reach: Reach) -> None:
    """Ville's inequality then bounds how often the wealth ever reaches 20 by 1 in 20."""
    values, chances = np.array([1.0, 2.0, -9.0]), np.array([0.5, 0.3, 0.2])
    mean = float(values @ chances)
    differences = np.random.default_rng(1).choice(values, 30, p=chances)
    for block in range(30):
        before, *after = (
            np.exp(Bets(np.append(differences[:block], more), reach, -mean).log_wealth(mean))
            for more in ([], *values)
        )
        expected = float(np.array(after) @ chances)
        assert expected < before if reach.tail else expected == pytest.approx(before)


@pytest.mark.parametrize("reach", [Reach(6.0), Reach(5.0, 0.02)])
@pytest.mark.parametrize("effect", [0.0, 0.4])
def test_a_duel_and_its_interval_agree_after_every_block(reach: Reach, effect: float) -> None:
    random = np.random.default_rng(3)
    differences = np.clip(random.normal(effect, 1.0, 300), -6.0, 6.0)
    seen = set()
    path = log_wealth(differences, reach, 0.0, 0.6)
    for block in range(0, 300, 13):
        bets = Bets(differences[: block + 1], reach, 0.6)
        assert bets.log_wealth(0.0) == pytest.approx(path[block])
        low, high = bets.interval.low or 0.0, bets.interval.high or 0.0
        assert low <= bets.mean <= high
        assert (low > 0 or high < 0) == bets.settled
        assert (low >= -0.6 and high <= 0.6) == bets.equal
        seen.add((bets.settled, bets.equal))
    assert len(seen) >= 2


def test_a_better_bot_is_named_and_equals_end_without_one() -> None:
    rule = partial(by_bets, reach=Reach(6.0), within=0.2)
    blocks, better, _ = mean_blocks(normal_blocks(0.5, 6.0), rule, 60)
    assert blocks < 90
    assert better >= 98
    blocks, *named = mean_blocks(normal_blocks(0.0, 6.0), rule, 60)
    assert blocks < 300
    assert sum(named) <= 7


@pytest.mark.parametrize("reach", [Reach(20.0), Reach(7.0, 0.02)])
def test_the_other_bot_first_turns_the_interval_around(reach: Reach) -> None:
    differences = np.random.default_rng(4).uniform(-3, 4, 80)
    bets, turned = (Bets(sign * differences, reach, None) for sign in (1, -1))
    assert (bets.mean, bets.settled) == (-turned.mean, turned.settled)
    assert bets.interval.low == pytest.approx(-(turned.interval.high or 0.0))


def test_without_a_valid_reach_nothing_is_claimed() -> None:
    beyond = np.append(np.ones(400), -11.0)
    for bets in (Bets(np.ones(500), None, None), Bets(beyond, Reach(10.0), None)):
        assert (bets.interval, bets.settled) == (UNKNOWN, False)


def test_blocks_of_equal_points_count_if_the_reach_is_known() -> None:
    assert Bets(np.zeros(0), Reach(12.0), None).interval == Interval(-12.0, 12.0)
    assert -0.2 < (Bets(np.zeros(500), Reach(12.0), None).interval.low or 1.0) < 0
