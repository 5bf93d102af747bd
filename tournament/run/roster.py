"""Rosters, which tell a session which bots can play."""

from collections.abc import Collection, Iterable
from math import inf

from tournament.config.cup import Cup
from tournament.formats import Block
from tournament.formats.plan import Progress
from tournament.records import AnyVoid, MatchRecord, MatchSummary, Skip
from tournament.run.outages import Outages


class Roster:
    """The roster of a cup whose bots stay the same from beginning to end."""

    ahead: float = 64
    """The most blocks that wait for a table although none of their bots is away. They may overtake
    a block whose bots are busy."""
    patience_s: float = inf
    """The most seconds for which a session waits for a bot when it can play nothing else."""

    def __init__(self, cup: Cup) -> None:
        self._cup = cup
        self._outages: Outages | None = None

    def cup(self, run: Progress) -> Cup:
        """Return the cup with all bots that have joined, and the URLs of connected bots."""
        return self._cup

    def checks(self, cup: Cup) -> frozenset[str]:
        """Return the bots that the roster itself checks. They may be away when a session begins."""
        return frozenset()

    def outages(self, round: int, cup: Cup, voids: Iterable[AnyVoid]) -> Outages:
        """Return the outages to be used in a round. `voids` are all void matches of the run."""
        if self._outages is None:
            self._outages = Outages(cup, voids)
        return self._outages

    def begin(self, voids: Iterable[AnyVoid]) -> None:
        """Start counting finished matches from 0. `voids` are all void matches of the run."""

    def finished(self, match: MatchSummary | MatchRecord) -> None:
        """Count a finished match."""

    def missing(self, cup: Cup, bots: Collection[str]) -> frozenset[str]:
        """Return those of `bots` that are known to be away, without asking them."""
        return frozenset()

    def connected(self) -> tuple[str, ...]:
        """Return the bots of a ladder that were connected at the last `update`, in the order of the
        cup. Outside a ladder, there are none."""
        return ()

    def update(self, run: Progress) -> bool:
        """Find out which bots are connected. Return False if this is not due yet, or if no bots
        can join."""
        return False

    def skips(
        self, run: Progress, untouched: Iterable[Block], expired: Collection[str]
    ) -> list[Skip]:
        """Return decisions to skip some of the `untouched` blocks, no match of which has begun.
        `expired` are the bots for which the run no longer waits."""
        return []

    def close(self) -> None:
        """Stop asking bots that are away."""
        if self._outages is not None:
            self._outages.close()
