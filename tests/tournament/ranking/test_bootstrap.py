import numpy as np
import pytest

from tournament.ranking.bootstrap import generator, percentile_interval, small_sample_factor


def test_the_factor_is_students_over_normal_and_tends_to_one() -> None:
    # t(9; 0.975) = 2.262157, z = 1.959964, n/(n-1) = 10/9
    assert small_sample_factor(10) == pytest.approx(2.262157 / 1.959964 * (10 / 9) ** 0.5, rel=1e-6)
    assert small_sample_factor(100_000) == pytest.approx(1.0, abs=1e-4)
    with pytest.raises(ValueError, match="fewer than two"):
        small_sample_factor(1)


def test_a_percentile_interval_is_widened_around_the_estimate_and_contains_it() -> None:
    draws = np.linspace(0.0, 1.0, 1001)
    found = percentile_interval(0.5, draws, 10)
    half_width = 0.475 * small_sample_factor(10)
    assert (found.low, found.high) == pytest.approx((0.5 - half_width, 0.5 + half_width))
    outside = percentile_interval(2.0, draws, 10)
    assert outside.high == 2.0


def test_these_numbers_stay() -> None:
    """A store gives the same digits with another numpy and on another machine."""
    raw = generator("2026-spring", "ranks", 6).random_raw(2)
    assert raw.tolist() == [1657339851354212092, 16625708509696699154]
