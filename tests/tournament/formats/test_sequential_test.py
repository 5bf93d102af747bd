"""The sequential test of a duel keeps its error rate."""

import copy

import numpy as np
import pytest

from tournament.formats.sequential_test import SequentialTest


def run(differences: "np.typing.NDArray[np.float64]") -> SequentialTest:
    test = SequentialTest()
    for difference in differences:
        test.add(float(difference))
        if test.decided:
            break
    return test


@pytest.mark.parametrize("scale", [0.05, 1.0, 40.0])
def test_the_evidence_is_a_martingale_for_equal_bots(scale: float) -> None:
    """A difference d is as likely as -d, and their mean evidence is the evidence before. By
    Ville's inequality the evidence then reaches 20 in one of twenty duels at most."""
    random = np.random.default_rng(1)
    test = SequentialTest()
    for difference in random.standard_t(3, 30) * scale:
        better, worse = copy.deepcopy(test), copy.deepcopy(test)
        better.add(difference)
        worse.add(-difference)
        assert (better.evidence + worse.evidence) / 2 == pytest.approx(test.evidence)
        test = better


def test_equal_bots_are_seldom_told_apart() -> None:
    """At most one in twenty, however often one looks; here 400 looks in each of 200 duels."""
    random = np.random.default_rng(1)
    wrong = sum(run(random.standard_t(3, 400)).decided for _ in range(200))
    assert wrong <= 10


@pytest.mark.parametrize("scale", [0.05, 1.0, 40.0])
def test_a_better_bot_is_found(scale: float) -> None:
    random = np.random.default_rng(2)
    tests = [run((random.normal(0.5, 1, 400)) * scale) for _ in range(100)]
    assert sum(test.decided and test.mean > 0 for test in tests) >= 98
    assert float(np.median([test.blocks for test in tests])) < 100


def test_no_difference_is_no_evidence() -> None:
    assert run(np.zeros(1000)).evidence == pytest.approx(1)


def test_huge_differences_do_not_overflow() -> None:
    test = run(np.full(50, 1e12))
    assert test.decided
    assert np.isfinite(test.evidence)
