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
        """Return which `bots` are known to be away, without asking them. By default, none are."""
        return frozenset()

    def update(self, run: Progress) -> None:
        """Do what is due to check the bots and set `connected`. By default, do nothing."""

    def skips(
        self, run: Progress, untouched: Iterable[Block], expired: Collection[str]
    ) -> list[Skip]:
        """Return decisions, for the caller to store, that skip some of the `untouched` blocks, in
        which no match has begun, because the run has ended or no longer waits for `expired` bots.
        """
        return []

    def close(self) -> None:
        """Stop checking bots."""
