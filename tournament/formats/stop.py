"""The section `[stop]` of a CUP.toml."""

from dataclasses import dataclass

from tournament.settings.keys import key, number


@dataclass(frozen=True, slots=True)
class Stop:
    """When a cup ends before all its blocks are played: never if `top` is None."""

    top: int | None = key(
        None, number(1, 1000, "End once so many bots are separated from the rest.")
    )
    confidence: float = key(0.95, number(0.5, 0.999, "How sure that must be."))
