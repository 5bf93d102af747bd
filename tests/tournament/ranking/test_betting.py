"""The interval of a duel's mean difference: valid however skewed, and one with what a duel says."""

from functools import partial

import numpy as np
import pytest

from tools.simulation.duels import (
    by_bets,
    by_gsprt,
    log_wealth,
    mean_blocks,
    normal_blocks,
    rare_loss,
)
from tournament.ranking.betting import Bets, Reach, reach_of


@pytest.mark.parametrize("every", [5, 20, 50])
def test_a_rare_large_loss_names_nobody(every: int) -> None:
    _, *named = mean_blocks(rare_loss(every), partial(by_bets, reach=Reach(float(every))), 60)
    assert sum(named) <= 12
    usual = mean_blocks(rare_loss(every), partial(by_gsprt, zone=0.2 * (every - 1) ** 0.5), 60)
    assert sum(usual[1:]) >= 20


def test_a_declared_tail_forgives_what_it_declares_and_no_more() -> None:
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
    random = np.random.default_rng(1)
    differences = random.choice(values, 30, p=chances)
    for block in range(30):
        before, *after = (
            np.exp(Bets(np.append(differences[:block], more), reach, -mean).log_wealth(mean))
            for more in ([], *values)
        )
        assert float(np.array(after) @ chances) <= before * (1 + 1e-12)
        if not reach.tail:
            assert float(np.array(after) @ chances) == pytest.approx(before)


@pytest.mark.parametrize("reach", [Reach(6.0), Reach(5.0, 0.02)])
@pytest.mark.parametrize("effect", [0.0, 0.4])
def test_a_duel_and_its_interval_agree_after_every_block(reach: Reach, effect: float) -> None:
    random = np.random.default_rng(3)
    differences = np.clip(random.normal(effect, 1.0, 300), -6.0, 6.0)
    seen = set()
    path = log_wealth(differences, reach, 0.0, 0.6)
    for block in range(0, 300, 7):
        bets = Bets(differences[: block + 1], reach, 0.6)
        assert bets.log_wealth(0.0) == pytest.approx(path[block])
        low, high = bets.interval.low, bets.interval.high
        assert low is not None
        assert high is not None
        assert low <= bets.mean <= high
        assert (low > 0 or high < 0) == bets.settled
        assert (low >= -0.6 and high <= 0.6) == bets.equal
        seen.add((bets.settled, bets.equal))
    assert len(seen) >= 2


def test_a_better_bot_is_named_and_equals_end_without_one() -> None:
    better = mean_blocks(
        normal_blocks(0.5, 6.0), partial(by_bets, reach=Reach(6.0), within=0.2), 60
    )
    assert better[0] < 90
    assert better[1] >= 98
    equal = mean_blocks(normal_blocks(0.0, 6.0), partial(by_bets, reach=Reach(6.0), within=0.2), 60)
    assert equal[0] < 300
    assert equal[1] + equal[2] <= 7


def test_the_other_bot_first_turns_the_interval_around() -> None:
    differences = np.random.default_rng(4).uniform(-3, 4, 80)
    for reach in (Reach(20.0), Reach(7.0, 0.02)):
        one, other = (Bets(each, reach, None) for each in (differences, -differences))
        assert one.mean == -other.mean
        assert one.settled == other.settled
        assert one.interval.low is not None
        assert other.interval.high is not None
        assert one.interval.low == pytest.approx(-other.interval.high)


def test_what_is_not_proved_is_not_said() -> None:
    beyond = np.append(np.ones(400), -11.0)
    for differences, reach in ((np.ones(500), None), (beyond, Reach(10.0))):
        found = Bets(differences, reach, None)
        assert (found.interval.low, found.interval.high, found.settled) == (None, None, False)
    found = Bets(np.zeros(0), Reach(12.0), None)
    assert (found.interval.low, found.interval.high) == (-12.0, 12.0)
    # Blocks of equal points are evidence where a block cannot hide more than the game allows.
    found = Bets(np.zeros(500), Reach(12.0), None)
    assert found.interval.low is not None
    assert -0.2 < found.interval.low < 0
