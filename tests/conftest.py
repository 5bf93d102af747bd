"""How Hypothesis draws its examples: the same ones every time, new ones by `make fuzz`.

A red build then speaks of the change and not of the day; the search for new counterexamples is a
command of its own. What it finds becomes a test with a name.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("fixed", derandomize=True)
settings.register_profile("long", derandomize=True, max_examples=1_000)
settings.register_profile("fuzz", max_examples=2_000, print_blob=True)
settings.load_profile("fixed")
