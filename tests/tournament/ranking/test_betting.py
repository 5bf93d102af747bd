"""The interval of a duel's mean difference: valid however skewed, and one with what a duel says."""

import copy
from functools import partial

import numpy as np
import pytest

from benchmarks.ranking.duels import by_bets, by_gsprt, mean_blocks, normal_blocks, rare_loss
from tournament.ranking.betting import Bets, log_wealth, mean_difference


@pytest.mark.parametrize("limit", [49.0, None])
@pytest.mark.parametrize("every", [5, 20, 50])
def test_a_rare_large_loss_names_nobody(every: int, limit: float | None) -> None:
    _, *named = mean_blocks(rare_loss(every), partial(by_bets, limit=limit), 60)
    assert sum(named) <= 5
    usual = mean_blocks(rare_loss(every), partial(by_gsprt, zone=0.2 * (every - 1) ** 0.5), 60)
    assert sum(usual[1:]) >= 20


@pytest.mark.parametrize("limit", [10.0, None])
def test_the_wealth_is_expected_to_stay_for_any_distribution_of_this_mean(
    limit: float | None,
) -> None:
    """Ville's inequality then bounds how often it ever reaches 20 by 1 in 20."""
    values, chances = np.array([1.0, 2.0, -9.0]), np.array([0.5, 0.3, 0.2])
    mean = float(values @ chances)
    random = np.random.default_rng(1)
    bets = Bets(limit, within=-mean)
    for difference in random.choice(values, 30, p=chances):
        after = []
        for value in values:
            copied = copy.deepcopy(bets)
            copied.add(float(value))
            after.append(np.exp(copied.log_wealth()[1]))
        assert float(np.array(after) @ chances) == pytest.approx(np.exp(bets.log_wealth()[1]))
        bets.add(float(difference))


@pytest.mark.parametrize(("limit", "scale"), [(6.0, 1.0), (None, 0.3)])
def test_a_duel_and_its_interval_agree_after_every_block(limit: float | None, scale: float) -> None:
    random = np.random.default_rng(3)
    differences = np.clip(random.normal(0.4, scale, 300), -6.0, 6.0)
    bets, seen = Bets(limit, within=0.9), set()
    paths = [log_wealth(differences, limit, mean) for mean in (0.0, -0.9, 0.9)]
    for block, difference in enumerate(differences.tolist()):
        bets.add(difference)
        assert bets.log_wealth() == pytest.approx([path[block] for path in paths])
        seen.add((bets.settled, bets.equal))
        if block % 7:
            continue
        found = mean_difference(differences[: block + 1], limit)
        low, high = found.interval.low, found.interval.high
        assert found.settled == bets.settled
        assert found.mean == pytest.approx(bets.mean)
        if low is not None and high is not None:
            assert low <= found.mean <= high
            assert (low > 0 or high < 0) == bets.settled
            assert (low >= -0.9 and high <= 0.9) == bets.equal
    assert len(seen) >= 2


def test_a_better_bot_is_named_and_equals_end_without_one() -> None:
    better = mean_blocks(normal_blocks(0.5, 6.0), partial(by_bets, limit=6.0, within=0.2), 60)
    assert better[0] < 90
    assert better[1] >= 98
    equal = mean_blocks(normal_blocks(0.0, 6.0), partial(by_bets, limit=6.0, within=0.2), 60)
    assert equal[0] < 400
    assert equal[1] + equal[2] <= 7


def test_the_other_bot_first_turns_the_interval_around() -> None:
    differences = np.random.default_rng(4).standard_t(3, 80)
    for limit in (20.0, None):
        one, other = mean_difference(differences, limit), mean_difference(-differences, limit)
        assert one.mean == -other.mean
        assert one.settled == other.settled
        assert one.interval.low is not None
        assert other.interval.high is not None
        assert one.interval.low == -other.interval.high


def test_what_cannot_be_said_is_not_said() -> None:
    for differences in (np.zeros(0), np.ones(3), np.zeros(500)):
        found = mean_difference(differences, None)
        assert (found.interval.low, found.interval.high, found.settled) == (None, None, False)
    found = mean_difference(np.zeros(0), 12.0)
    assert (found.interval.low, found.interval.high) == (-12.0, 12.0)
    # Blocks of equal points are evidence where a block cannot hide more than the game allows.
    found = mean_difference(np.zeros(500), 12.0)
    assert found.interval.low is not None
    assert -0.2 < found.interval.low < 0


def test_a_block_beyond_the_supposed_reach_does_not_break_the_test() -> None:
    differences = np.append(np.ones(400), [-500.0, 1e12, -1e12])
    for limit in (10.0, None):
        bets = Bets(limit)
        for difference in differences.tolist():
            bets.add(difference)
        assert np.isfinite(bets.wealth)
        assert not bets.settled
        assert not mean_difference(differences, limit).settled
