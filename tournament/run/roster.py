"""Rosters, which tell a session which bots can play."""

from collections.abc import Collection, Iterable
from math import inf

from tournament.config.cup import Cup
from tournament.formats import Block
from tournament.formats.plan import Progress
from tournament.records import Skip


class Roster:
    """The roster of a cup whose bots stay the same from beginning to end. In a subclass, all
    methods except `close` may raise StichError."""

    ahead: float = 64
    """The most blocks that wait for a table although none of their bots is away. They may overtake
    a block whose bots are busy."""
    patience_s: float = inf
    """The most seconds for which a session waits for a bot when it can play nothing else."""
    connected: tuple[str, ...] = ()
    """The bots of a ladder that were connected at the last `update`, in the order of the cup."""

    def __init__(self, cup: Cup) -> None:
        self._cup = cup

    def cup(self, run: Progress) -> Cup:
        """Return the cup with all bots that have joined, and with URLs for connecting bots."""
        return self._cup

    def missing(self, cup: Cup, bots: Collection[str]) -> frozenset[str]:
        """Return those of `bots` that are known to be away. Do not contact the bots. By default,
        the result is empty."""
        return frozenset()

    def update(self, run: Progress) -> None:
        """Check the bots that are due for a check, and set `connected`. By default, do nothing."""

    def skips(
        self, run: Progress, untouched: Iterable[Block], expired: Collection[str]
    ) -> list[Skip]:
        """Return decisions that skip some of the `untouched` blocks, because the run has ended or
        no longer waits for the `expired` bots. No match of an untouched block has begun. The caller
        must store the decisions. By default, there are none."""
        return []

    def close(self) -> None:
        """Stop checking bots."""
