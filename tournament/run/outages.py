"""Outages of bots by URL: which bots a run waits for, and how long."""

import threading
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from math import inf
from time import monotonic

from tournament.bot.url_bot import StartError
from tournament.config.cup import Bot, Cup
from tournament.records import AnyVoid, MatchRecord, MatchSummary, Outage
from tournament.run.preflight import about_by_url

_PROBE_S = 1.0
_WINDOW = 1000
_VOIDS_OF_AUTHOR = 5


class _Probe(threading.Thread):
    """A thread that checks every second whether a bot by URL answers again, and ends when it
    does."""

    def __init__(self, bot: Bot) -> None:
        super().__init__(daemon=True)
        self._bot = bot
        self.since = monotonic()
        self.stopped = threading.Event()
        self.start()

    def run(self) -> None:
        """Check until the bot answers, or `stopped` is set."""
        while not self.stopped.wait(_PROBE_S):
            with suppress(StartError):
                about_by_url(self._bot, self._bot.url or "")
                return


class AuthorVoids:
    """The void matches of each author in the last 1,000 matches of the author's bots.

    An author may have at most five times `voids` of the cup, so that hanging up exchanges few hands
    for others, however many epochs, bots and versions there are. Matches are added in the order of
    the schedule. `author_of` maps bots to authors. A bot without an author counts as its own.
    """

    def __init__(self, voids: int) -> None:
        self.author_of: Mapping[str, str] = {}
        self._most = _VOIDS_OF_AUTHOR * voids
        self._played: dict[str, deque[int]] = {}  # blocks, by author
        self._voids: dict[str, list[int]] = {}  # blocks, by author

    def begin(self, voids: Iterable[AnyVoid]) -> None:
        """Forget all matches, and start again with these void matches."""
        self._played.clear()
        self._voids.clear()
        for void in voids:
            if isinstance(void, Outage):
                self.add(void)

    def add(self, void: Outage) -> None:
        """Count a match that was void because its bot could not be reached."""
        self._voids.setdefault(self._author(void.bot), []).append(void.block)

    def finished(self, match: MatchSummary | MatchRecord) -> None:
        """Count a finished match."""
        for author in set(map(self._author, match.seating)):
            self._played.setdefault(author, deque(maxlen=_WINDOW)).append(match.block)

    def spent(self, bot: str) -> bool:
        """Whether no further match may be void because of a bot."""
        author = self._author(bot)
        played = self._played.get(author)
        first = played[0] if played is not None and len(played) == _WINDOW else 0
        return sum(block >= first for block in self._voids.get(author, ())) >= self._most

    def _author(self, bot: str) -> str:
        return self.author_of.get(bot, bot)


class Outages:
    """The void matches of each bot, and the bots that are away.

    The run waits for a bot until it answers or `outage_s` has passed. After that, or after `voids`
    void matches, its faults count, so hanging up on a bad deal gains nothing. `of_authors` counts
    the void matches of a ladder beyond the present epoch.
    """

    def __init__(
        self, cup: Cup, voids: Iterable[AnyVoid], of_authors: AuthorVoids | None = None
    ) -> None:
        self._cup = cup
        self._of_authors = of_authors or AuthorVoids(cup.voids)
        self._voids = Counter(void.bot for void in voids if isinstance(void, Outage))
        self._by_url = frozenset(bot.name for bot in cup.bots if bot.url is not None)
        self._away: dict[str, _Probe] = {}
        self.expired: set[str] = set()
        """The bots that were away too long."""

    @property
    def away(self) -> tuple[str, ...]:
        """The bots that the run waits for."""
        return tuple(self._away)

    def wait_for(self, bots: Iterable[str]) -> frozenset[str]:
        """Return which of these bots make a match void if they cannot be reached."""
        if not self._cup.outage_s:
            return frozenset()
        return frozenset(
            bot
            for bot in self._by_url.intersection(bots) - self.expired
            if self._voids[bot] < self._cup.voids and not self._of_authors.spent(bot)
        )

    def add(self, void: Outage) -> None:
        """Count a match that is void because its bot could not be reached, and wait for the bot."""
        self._voids[void.bot] += 1
        self._of_authors.add(void)
        self.wait(void.bot)

    def wait(self, bot: str) -> None:
        """Wait for a bot that cannot be reached."""
        if bot not in self._away:
            self._away[bot] = _Probe(self._cup.bot(bot))

    def update(self, most_s: float = inf) -> None:
        """Stop waiting for bots that answer again, or were away for `outage_s` or `most_s`
        seconds."""
        for bot, probe in list(self._away.items()):
            late = monotonic() - probe.since >= min(self._cup.outage_s, most_s)
            if late and probe.is_alive():
                self.expired.add(bot)
            if late or not probe.is_alive():
                probe.stopped.set()
                del self._away[bot]

    def close(self) -> None:
        """Stop all checks."""
        for probe in self._away.values():
            probe.stopped.set()
        self._away.clear()
