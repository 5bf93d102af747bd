"""Whether the rules that run are the compiled ones agrees with what is installed."""

from importlib.metadata import distribution

import games


def test_rules_are_compiled_in_a_wheel_for_one_platform_only() -> None:
    """An editable install, like a pure wheel, is for every platform."""
    tags = distribution("stich").read_text("WHEEL") or ""
    assert ("Root-Is-Purelib: false" in tags) == games.COMPILED
