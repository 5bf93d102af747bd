"""Numbers of the standings as text."""

from __future__ import annotations

import pytest

from web.ui.formatting import format_points


@pytest.mark.parametrize(
    ("points", "text"), [(0.905, "+0.91"), (-0.006, "−0.01"), (-0.004, "+0.00"), (-0.0, "+0.00")]
)
def test_points_that_round_to_zero_have_no_minus(points: float, text: str) -> None:
    assert format_points(points) == text
