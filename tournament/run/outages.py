"""Outages of remote bots: which bots a run waits for, and for how long."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from contextlib import suppress
from math import inf
from threading import Event, Thread
from time import monotonic

from tournament.bot.about import about_by_url
from tournament.bot.url_bot import StartError
from tournament.config.cup import Bot, Cup
from tournament.records import AnyVoid, MatchRecord, MatchSummary, Outage

_PROBE_S = 1.0
_WINDOW = 1000
_VOIDS_OF_AUTHOR = 5


def _probe(bot: Bot, ended: Event) -> None:
    while not ended.wait(_PROBE_S):
        with suppress(StartError):
            about_by_url(bot)
            ended.set()


class Outages:
    """Counts the void matches of bots and their authors, and records which bots are away.

    The run waits for a bot until the bot answers or the cup's `outage_s` seconds have passed. If
    the bot has not answered by then, its faults count. Faults also count once the bot has had as
    many void matches as the cup allows (in a ladder, in each epoch), or once the bots of its author
    together have had five times as many within their last 1,000 matches. A bot without an author is
    counted alone.
    """

    def __init__(self, cup: Cup) -> None:
        self._cup, self._bots = cup, {bot.name: bot for bot in cup.bots}
        self._round = 0
        self._voids: Counter[str] = Counter()  # by bot
        self._voids_of: defaultdict[str, list[int]] = defaultdict(list)  # blocks, by author
        self._played_of: dict[str, deque[int]] = {}  # blocks of finished matches, by author
        self._away: dict[str, tuple[float, Event]] = {}  # since when, and the end of the probe
        self.expired: set[str] = set()
        """The bots that have been away too long."""

    def begin_round(self, round: int, cup: Cup, voids: Iterable[AnyVoid]) -> None:
        """Begin or continue a round with the bots of `cup`, and recount the outages. `voids` must
        hold all void matches of the run. When a ladder's epoch begins, no bot counts as away or
        expired."""
        if cup.is_ladder and round != self._round:
            self.close()
            self.expired.clear()
        self._round = round
        self._cup, self._bots = cup, {bot.name: bot for bot in cup.bots}
        self._voids.clear()
        self._voids_of.clear()
        for void in voids:
            if isinstance(void, Outage):
                self._count(void)

    def _count(self, void: Outage) -> None:
        if void.round == self._round or not self._cup.is_ladder:
            self._voids[void.bot] += 1
        self._voids_of[self._author(void.bot)].append(void.block)

    def _author(self, bot: str) -> str:
        return self._bots[bot].author or bot

    def forget_finished(self) -> None:
        """Set the number of finished matches of every author to 0."""
        self._played_of.clear()

    def finished(self, match: MatchSummary | MatchRecord) -> None:
        """Count a finished match for the author of each bot in it."""
        for author in set(map(self._author, match.table)):
            self._played_of.setdefault(author, deque(maxlen=_WINDOW)).append(match.block)

    @property
    def away(self) -> tuple[str, ...]:
        """The bots that are away and still waited for, the longest away first."""
        return tuple(self._away)

    def wait_for(self, bots: Iterable[str]) -> frozenset[str]:
        """Return those of `bots` that make a match void if they cannot be reached. They are remote,
        are not `expired`, and have fewer void matches than allowed, as do their authors. If the
        cup's `outage_s` is 0, there are none."""
        if not self._cup.outage_s:
            return frozenset()
        return frozenset(
            bot
            for bot in set(bots) - self.expired
            if self._bots[bot].url is not None
            and self._voids[bot] < self._cup.voids
            and not self._is_spent(self._author(bot))
        )

    def _is_spent(self, author: str) -> bool:
        played = self._played_of.get(author, deque())
        first = played[0] if len(played) == _WINDOW else 0
        recent = sum(block >= first for block in self._voids_of[author])
        return recent >= _VOIDS_OF_AUTHOR * self._cup.voids

    def add(self, void: Outage) -> None:
        """Count a match that was void because of an unreachable bot, and mark the bot as away (see
        `wait`)."""
        self._count(void)
        self.wait(void.bot)

    def wait(self, bot: str) -> None:
        """Mark a remote bot as away. Until the bot answers, a thread asks it every second. Only
        `update`, `close` or a new epoch removes the mark."""
        if bot not in self._away:
            ended = Event()
            self._away[bot] = monotonic(), ended
            Thread(target=_probe, args=(self._bots[bot], ended), daemon=True).start()

    def update(self, most_s: float = inf) -> None:
        """Stop waiting for bots that have answered. Also stop waiting for bots that have been away
        for the cup's `outage_s` or for `most_s` seconds, whichever is less, and add them to
        `expired`."""
        for bot, (since, ended) in list(self._away.items()):
            late = monotonic() - since >= min(self._cup.outage_s, most_s)
            if late and not ended.is_set():
                self.expired.add(bot)
            if late or ended.is_set():
                ended.set()
                del self._away[bot]

    def close(self) -> None:
        """Stop asking bots. No bot counts as away any more."""
        for _, ended in self._away.values():
            ended.set()
        self._away.clear()
