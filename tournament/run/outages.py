"""Outages of bots by URL: which bots a run waits for, and for how long."""

import threading
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from math import inf
from time import monotonic

from tournament.bot.url_bot import StartError
from tournament.config.cup import Bot, Cup
from tournament.records import AnyVoid, MatchRecord, MatchSummary, Outage
from tournament.run.workers.preflight import about_by_url

_PROBE_S = 1.0
_WINDOW = 1000
_VOIDS_OF_AUTHOR = 5


class _Probe(threading.Thread):
    """A thread that asks a bot by URL every second, until the bot answers or `stopped` is set.
    `since` is the time of its start, by time.monotonic."""

    def __init__(self, bot: Bot) -> None:
        super().__init__(daemon=True)
        self._bot = bot
        self.since = monotonic()
        self.stopped = threading.Event()
        self.start()

    def run(self) -> None:
        """Ask the bot every second until it answers or `stopped` is set."""
        while not self.stopped.wait(_PROBE_S):
            with suppress(StartError):
                about_by_url(self._bot, self._bot.url or "")
                return


class AuthorVoids:
    """Counts the void matches of each author among the last 1,000 matches of the author's bots.

    An author may have at most five times as many void matches as the `voids` of the cup. So hanging
    up replaces few bad hands, however many epochs, bots and versions there are. `author_of` maps
    bots to authors. A bot without an author is counted on its own.
    """

    def __init__(self, voids: int) -> None:
        self.author_of: Mapping[str, str] = {}
        self._most = _VOIDS_OF_AUTHOR * voids
        self._played: dict[str, deque[int]] = {}  # blocks, by author
        self._voids: dict[str, list[int]] = {}  # blocks, by author

    def begin(self, voids: Iterable[AnyVoid]) -> None:
        """Forget all matches, and count the outages among these void matches."""
        self._played.clear()
        self._voids.clear()
        for void in voids:
            if isinstance(void, Outage):
                self.add(void)

    def add(self, void: Outage) -> None:
        """Count a match that was void because a bot could not be reached."""
        self._voids.setdefault(self._author(void.bot), []).append(void.block)

    def finished(self, match: MatchSummary | MatchRecord) -> None:
        """Count a finished match for the author of each bot in it."""
        for author in set(map(self._author, match.seating)):
            self._played.setdefault(author, deque(maxlen=_WINDOW)).append(match.block)

    def spent(self, bot: str) -> bool:
        """Whether the author of a bot has as many void matches as an author may have."""
        author = self._author(bot)
        played = self._played.get(author)
        first = played[0] if played is not None and len(played) == _WINDOW else 0
        return sum(block >= first for block in self._voids.get(author, ())) >= self._most

    def _author(self, bot: str) -> str:
        return self.author_of.get(bot, bot)


class Outages:
    """Counts the void matches of each bot, and knows which bots are away.

    The run waits for a bot until the bot answers or `outage_s` seconds have passed. After that, or
    after as many void matches as the cup allows, its faults count, so hanging up on a bad deal
    gains nothing. `voids` holds earlier void matches. `of_authors` counts the void matches of all
    epochs of a ladder.
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
        """The bots that have been away too long."""

    @property
    def away(self) -> tuple[str, ...]:
        """The bots that are away and that the run waits for, longest away first."""
        return tuple(self._away)

    def wait_for(self, bots: Iterable[str]) -> frozenset[str]:
        """The bots among `bots` that make a match void if they cannot be reached: bots by URL that
        have not been away too long, and do not have too many void matches yet. There are none if
        `outage_s` is 0."""
        if not self._cup.outage_s:
            return frozenset()
        return frozenset(
            bot
            for bot in self._by_url.intersection(bots) - self.expired
            if self._voids[bot] < self._cup.voids and not self._of_authors.spent(bot)
        )

    def add(self, void: Outage) -> None:
        """Count a match that was void because a bot could not be reached, and wait for the bot."""
        self._voids[void.bot] += 1
        self._of_authors.add(void)
        self.wait(void.bot)

    def wait(self, bot: str) -> None:
        """Mark a bot as away, and start a thread that asks it every second until it answers. Do
        nothing if the bot is marked already."""
        if bot not in self._away:
            self._away[bot] = _Probe(self._cup.bot(bot))

    def update(self, most_s: float = inf) -> None:
        """Stop waiting for bots that answer again. Also stop waiting for bots that have been away
        for `outage_s` or `most_s` seconds, whichever is less, and add them to `expired`."""
        for bot, probe in list(self._away.items()):
            late = monotonic() - probe.since >= min(self._cup.outage_s, most_s)
            if late and probe.is_alive():
                self.expired.add(bot)
            if late or not probe.is_alive():
                probe.stopped.set()
                del self._away[bot]

    def close(self) -> None:
        """Stop asking bots. None of them counts as away any more."""
        for probe in self._away.values():
            probe.stopped.set()
        self._away.clear()
