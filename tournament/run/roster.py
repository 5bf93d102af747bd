"""The bots that a session can ask to play, which in a ladder change while it is played."""

from collections.abc import Collection, Iterable
from math import inf

from tournament.config.cup import Cup
from tournament.formats import Block
from tournament.formats.plan import Progress
from tournament.records import AnyVoid, MatchRecord, MatchSummary, Skip
from tournament.run.outages import Outages


class Roster:
    """The bots of a cup, which are the same from its beginning to its end."""

    ahead: float = 64
    """How many blocks wait for a table: so many may overtake one whose bots by URL are busy."""
    patience_s: float = inf
    """How long a session with nothing else to play waits for a bot, at most."""

    def __init__(self, cup: Cup) -> None:
        self._cup = cup
        self._outages: Outages | None = None

    def cup(self, run: Progress) -> Cup:
        """Return the cup with the bots that have joined, each with the URL at which it is asked."""
        return self._cup

    def checks(self, cup: Cup) -> frozenset[str]:
        """Return the bots that the roster checks whenever they connect. They may be away when a
        session begins."""
        return frozenset()

    def outages(self, round: int, cup: Cup, voids: Iterable[AnyVoid]) -> Outages:
        """Return the outages that count in a round. `voids` are all void matches of the run."""
        if self._outages is None:
            self._outages = Outages(cup, voids)
        return self._outages

    def begin(self, voids: Iterable[AnyVoid]) -> None:
        """Begin to count finished matches. `voids` are all void matches of the run."""

    def finished(self, match: MatchSummary | MatchRecord) -> None:
        """Count a finished match."""

    def missing(self, cup: Cup, bots: Collection[str]) -> frozenset[str]:
        """Return which of these bots are known to be away. Bots are not asked."""
        return frozenset()

    def connected(self) -> tuple[str, ...]:
        """Return the bots of a ladder that are connected."""
        return ()

    def update(self, run: Progress) -> bool:
        """Look which bots are there. Return False if the next look is not due yet."""
        return False

    def skips(
        self, run: Progress, untouched: Iterable[Block], expired: Collection[str]
    ) -> list[Skip]:
        """Return the decisions to skip blocks that have not begun.

        `expired` are the bots that were away too long: the run does not wait for them.
        """
        return []

    def close(self) -> None:
        """Stop all checks of bots."""
        if self._outages is not None:
            self._outages.close()
