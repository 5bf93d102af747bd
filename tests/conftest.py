"""Hypothesis profiles: the same examples in every run, new ones with `make fuzz`.

So a failing build is due to the change, not to chance. When `make fuzz` finds a counterexample,
write a test for it.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("fixed", derandomize=True)
settings.register_profile("long", derandomize=True, max_examples=1_000)
settings.register_profile("fuzz", max_examples=2_000, print_blob=True)
settings.load_profile("fixed")
