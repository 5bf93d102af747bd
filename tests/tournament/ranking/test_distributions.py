"""Each distribution beside SciPy's, and groups beside a union of pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.special
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tournament.ranking.anytime import _mixture
from tournament.ranking.distributions import (
    chi_square_quantile,
    logistic,
    normal_quantile,
    student_quantile,
    student_tail,
)
from tournament.ranking.groups import connected

FREEDOM = np.concatenate([np.linspace(0.5, 60, 60), np.logspace(2, 6, 9)])[:, np.newaxis]


def test_normal_quantiles() -> None:
    lower = np.concatenate([[5e-324], np.logspace(-307, -1, 2000), np.linspace(0.01, 0.5, 999)])
    for chance in (lower, 1 - lower[lower > 1e-16]):
        expected = scipy.special.ndtri(chance)
        np.testing.assert_allclose(normal_quantile(chance), expected, rtol=1e-13, atol=1e-15)
    assert normal_quantile([0, 1]).tolist() == [-np.inf, np.inf]
    assert float(normal_quantile(0.5)) == 0


@pytest.mark.parametrize("deviate", [0.0, 1e-6, 0.1, 1.0, 1.7, 1.8, 2.0, 5.0, 40.0, 1e6])
def test_tails_of_students_t(deviate: float) -> None:
    """Relative to the tail itself, as far as floating point has numbers for it."""
    expected = scipy.special.stdtr(FREEDOM, -deviate)
    shown = expected > 1e-300
    found = student_tail(FREEDOM, deviate)
    np.testing.assert_allclose(found[shown], expected[shown], rtol=1e-9)
    np.testing.assert_allclose(student_tail(FREEDOM, -deviate), 1 - expected, rtol=1e-9)


@pytest.mark.parametrize("tail", [0.4, 0.05, 0.025, 0.0005])
def test_quantiles_of_students_t(tail: float) -> None:
    expected = scipy.special.stdtrit(FREEDOM, 1 - tail)
    np.testing.assert_allclose(student_quantile(FREEDOM, tail), expected, rtol=1e-9)


@pytest.mark.parametrize("tail", [0.5, 0.05, 0.001])
def test_quantiles_of_chi_square(tail: float) -> None:
    for freedom in (*range(1, 60), 99, 400, 2001):
        expected = scipy.special.chdtri(freedom, tail)
        assert chi_square_quantile(freedom, tail) == pytest.approx(expected, rel=1e-12)


def test_the_logistic_function() -> None:
    x = np.concatenate([-np.logspace(-9, 3, 200), [0.0], np.logspace(-9, 3, 200)])
    np.testing.assert_allclose(logistic(x), scipy.special.expit(x), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("level", [0.99, 0.5, 0.05, 0.05 / 780, 1e-12])
def test_the_narrowest_mixture_is_lamberts(level: float) -> None:
    expected = -scipy.special.lambertw(-(level**2) / math.e, -1).real - 1
    assert _mixture(level) * 60 == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("links", [0, 5, 15, 30, 60])
def test_groups_are_connected(links: int) -> None:
    first, second = np.random.default_rng(links).integers(0, 30, (2, links))
    linked = np.zeros((30, 30), bool)
    linked[first, second] = linked[second, first] = True
    pairs = coo_array((np.ones(links), (first, second)), shape=(30, 30))
    assert connected(linked).tolist() == connected_components(pairs, directed=False)[1].tolist()


def test_a_chain_is_one_group() -> None:
    linked = np.abs(np.subtract.outer(np.arange(9), np.arange(9))) == 1
    assert set(connected(linked)) == {0}
    assert connected(np.zeros((0, 0), bool)).size == 0
