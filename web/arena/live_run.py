"""A run as its pages see it: the standings are cached, and refreshed when the store has changed."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from gettext import NullTranslations
from itertools import chain
from time import monotonic, thread_time
from typing import Any, Final, TypeVar

import msgspec
import numpy as np
from flask import current_app

from tournament.config.cup import Cup
from tournament.decisions import paused
from tournament.display.formatting import format_matches
from tournament.language import ENGLISH, N_, catalog, ngettext, speak
from tournament.language import gettext as _
from tournament.model import Phase, Run, StoredRun, Upcoming
from tournament.records import MatchRecord, MatchSummary
from tournament.results.match_arrays import MatchCollector
from tournament.results.reading import RunReader
from tournament.results.standings import compute
from tournament.store.reader import NoMatch
from tournament.text import listed, unreachable, utc

_FRESH_S = 2.0  # how long what was read is not read again
_IDLE_S = 10.0  # after so much more time what was read is too old to be shown
_RATE_S = 600.0  # the matches of so long tell how fast a run is
_SHARE = 40  # refreshing takes at most one part in so many of a core
_HOUR_S, _DAY_S = 3600.0, 86400.0
_KEPT: Final = 256  # pages for others who look at them
_RECENT: Final = 1000  # matches among which spectators find one to watch
_STATES: Final = {
    "over": N_("Over"),
    Phase.PAUSED: N_("Paused"),
    Phase.PLAYING: N_("Playing"),
}
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class EarlierTable:
    """The places of the bots in the table at `since`, in UTC. A bot's place is None if it had
    none."""

    since: datetime
    places: Mapping[str, int | None]


class RunView:
    """What pages show of a run without its matches. Pages are out of date when `version`
    changes."""

    def __init__(self, version: str, run: Run) -> None:
        self.version = version
        self.run = run
        self.name = run.cup.name
        self.finished = run.finished
        self.proof = run if isinstance(run, StoredRun) else None
        """The run, which has a seed to check; None for a file of matches."""
        self.out = run.disqualified
        """The bots that are disqualified."""

    @property
    def state(self) -> str:
        """The state of the run in a word: over, paused, waiting or playing."""
        return "over" if self.finished else self.run.phase

    @property
    def status(self) -> str:
        """The state of the run in a line."""
        phase, present = self.run.phase, self.run.present
        if phase is Phase.WAITING:
            return _("Waiting for %(bots)s", bots=listed(present.awaited))
        said = ": ".join(filter(None, (_(_STATES[self.state]), self.progress())))
        pause = paused(self.run.decisions)
        if phase is Phase.PAUSED and pause is not None:
            why = f": {pause.why}" if pause.why else ""
            said = _("Paused since %(time)s", time=utc(pause.at)) + why
        away = "" if self.finished else unreachable(present.away)
        return f"{said.rstrip('.')}. {away}" if away else said

    def progress(self) -> str:
        """A text about the progress of the run, or "" if that is not known."""
        return ""


class Snapshot(RunView):
    """A run at one moment. `version` changes with the content."""

    def __init__(self, version: str, run: Run, read: _Matches) -> None:
        super().__init__(version, run)
        self.arrays = read.collector.arrays(run.cup.names)
        self.table = compute(self.arrays, run)
        self.bots = self.arrays.bots
        """The bots of the cup, also those that are disqualified."""
        self.played = dict(read.played)
        """The number of finished matches by block."""
        self.blocks = np.array(sorted(self.played.keys() - read.withheld.keys()), np.int64)
        """The blocks in the order in which the arrays number them."""
        self.withheld = tuple(chain.from_iterable(read.withheld.values()))
        """The finished matches of blocks of which a match is still to be played, which are in no
        table or list: that match has the same cards, and a score tells something about cards."""
        self.recent = tuple(reversed(read.recent))
        """The matches that ended last, the newest first."""
        self.latest = next(iter(self.recent), None)
        """The match that ended last."""
        self.swing = read.swing
        """The match in which the points of the seats are furthest apart."""
        self.matches = int(self.arrays.block.size) + len(self.withheld)
        """The number of finished matches."""
        self.total = max(self.matches, run.total or 0)
        """The number of matches planned; a swiss or knockout plans its rounds as it goes."""
        self.upcoming = _upcoming(run, self.played)
        """The next blocks, those that are being played first."""
        self.rate: float | None = None
        """The number of matches a second in the last minutes, None if it is not known."""
        self.earlier: EarlierTable | None = None
        """The table an hour to a day ago, if the pages were there then."""

    def progress(self) -> str:
        """A text with the tables that are playing, the matches played, and the time left."""
        counted = self.table.matches + len(self.withheld)
        table = replace(self.table, played=self.matches, matches=counted)
        matches = format_matches(table, self.total)
        if self.finished:
            return matches
        if self.rate == 0:
            return _(
                "%(matches)s, none in the last %(time)s", matches=matches, time=duration(_RATE_S)
            )
        tables = ngettext("%(num)d table", "%(num)d tables", self.tables) if self.tables else ""
        return ", ".join(filter(None, (tables, matches, self.left)))

    @property
    def tables(self) -> int:
        """The number of tables that play at once, or 0 if that is not known."""
        return min(len(self.upcoming), self.run.cup.run.concurrency)

    @property
    def left(self) -> str:
        """The time left, in words, or "" in a ladder or if the time is not known."""
        if not self.rate or self.run.phase is not Phase.PLAYING or self.run.cup.is_ladder:
            return ""
        fewer = self.table.stop or self.run.gone  # than planned may be played
        left = duration((self.total - self.matches) / self.rate)
        return (
            _("at most %(time)s left", time=left) if fewer else _("about %(time)s left", time=left)
        )


def current_run() -> LiveRun:
    """The run whose pages the current application shows."""
    run: LiveRun = current_app.extensions["stich-run"]
    return run


class _Matches:
    """The matches read so far, as statistics need them. A block's matches are added once the block
    is complete, or `at_once`."""

    def __init__(self, at_once: bool) -> None:
        self._at_once = at_once
        self.collector = MatchCollector()
        self.played: Counter[int] = Counter()  # by block
        self.withheld: dict[int, list[MatchSummary]] = {}  # by block
        self.swing: MatchSummary | None = None
        self.recent: deque[MatchSummary] = deque(maxlen=_RECENT)
        self._last = -1

    def read(self, store: RunReader) -> None:
        """Add the matches written to the store since the last call."""
        self.collector.add(self._new(store))

    def _new(self, store: RunReader) -> Iterator[MatchSummary]:
        for sequence, match in store.written_after(self._last):
            self._last = sequence
            self.played[match.block] += 1
            block = [*self.withheld.pop(match.block, ()), match]
            if not self._at_once and len(block) < match.seatings:
                self.withheld[match.block] = block
                continue
            for one in block:
                self.recent.append(one)
                if self.swing is None or _swing(one) > _swing(self.swing):
                    self.swing = one
            yield from block


class LiveRun:
    """A run that may still be playing. Safe for threads."""

    def __init__(self, store: RunReader, clock: Callable[[], float] = monotonic) -> None:
        self.store = store
        self._clock = clock
        self._refreshing = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._next = 0.0
        self._read_at = clock()
        self._counts: deque[tuple[float, int]] = deque()
        self._basis: tuple[int, Cup, bool] | None = None
        self._matches = _Matches(at_once=False)
        self._tables: deque[tuple[float, EarlierTable]] = deque()
        self._kept: dict[tuple[NullTranslations, str], Any] = {}

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the run. Refresh it first if it is stale: one caller refreshes at a
        time, and the others get the previous snapshot, unless there is none or it is very old.

        Raises:
            NotBegun: if the run has not begun.
        """
        old = self._snapshot is None or self._clock() >= self._next + _IDLE_S
        if self._clock() >= self._next and self._refreshing.acquire(blocking=old):
            try:
                if self._clock() >= self._next:
                    self.refresh()
            finally:
                self._refreshing.release()
        return self._snapshot or self.refresh()

    @property
    def age_s(self) -> float:
        """How many seconds ago the run was last read."""
        return self._clock() - self._read_at

    def view(self) -> RunView:
        """Return what is known of the run without its matches.

        Raises:
            NotBegun: if the run has not begun.
        """
        run = self.store.run()
        return RunView(_version(run), run)

    def refresh(self) -> Snapshot:
        """Read the run again and return the new snapshot. Only one thread may call this at a
        time."""
        began = thread_time()
        first = self._snapshot is None
        reader = catalog()
        speak(ENGLISH)  # what is kept is for readers of all languages
        try:
            with self.store.snapshot() as store:
                self._snapshot = self._look(store)
        finally:
            speak(reader)
        # The first look also loads modules, so it tells nothing about the next.
        used = 0.0 if first else thread_time() - began
        self._read_at = self._clock()
        self._next = self._read_at + max(_FRESH_S, _SHARE * used)
        return self._snapshot

    def _look(self, store: RunReader) -> Snapshot:
        run, count = store.run(), store.count()
        self._counts.append((self._clock(), count))
        while self._counts[0][0] < self._clock() - _RATE_S or self._counts[0][1] > count:
            self._counts.popleft()
        (began, first), (ended, last) = self._counts[0], self._counts[-1]
        rate = (last - first) / (ended - began) if ended > began else None
        if rate == 0 and ended - began < 0.9 * _RATE_S:
            rate = None
        version = f"{count}-{rate == 0}-{_version(run)}-{run.present.upcoming}"
        if self._snapshot and self._snapshot.version == version:
            return self._snapshot
        basis = _basis(run)
        if basis != self._basis:
            self._basis, self._matches = basis, _Matches(at_once=_is_fresh(run))
        self._matches.read(store)
        found = Snapshot(version, run, self._matches)
        found.rate = rate
        found.earlier = self._earlier(found)
        return found

    def _earlier(self, now: Snapshot) -> EarlierTable | None:
        """Return the oldest table of the last day, or None if it is less than an hour old. Keep a
        table an hour."""
        clock, kept = self._clock(), self._tables
        while kept and kept[0][0] < clock - _DAY_S:
            kept.popleft()
        if not kept or kept[-1][0] <= clock - _HOUR_S:
            places = {line.bot: line.place for line in now.table.standings}
            kept.append((clock, EarlierTable(datetime.now(UTC), places)))
        at, earlier = kept[0]
        return None if now.finished or at > clock - _HOUR_S else earlier

    def kept(self, key: str, make: Callable[[], _T]) -> _T:
        """Return the cached value of this key for the reader's language, or make and cache one. The
        least recently used value makes room."""
        kept, place = self._kept, (catalog(), key)
        found: _T = kept.pop(place, None) or make()
        kept[place] = found
        if len(kept) > _KEPT:
            kept.pop(next(iter(tuple(kept))), None)  # a copy: others change it meanwhile
        return found

    def find(self, match: str) -> MatchRecord | None:
        """Return a finished match by its id, or None if there is none."""
        try:
            record = self.store.match(match)
        except NoMatch:
            return None
        return record if record.match == match else None

    def is_open(self, block: int) -> bool:
        """Whether a match with the cards of this block has yet to be played."""
        return not _is_fresh(self.store.run()) and not self.store.is_complete(block)


def _upcoming(run: Run, played: Mapping[int, int]) -> tuple[Upcoming, ...]:
    """Return the next blocks that the runner has stored, without those that have ended since.
    `played` is the number of finished matches by block.

    A ladder's blocks are only shown once they have begun: a bot that knew the next tables could
    stay away from them.
    """
    if run.finished:
        return ()
    now = (
        msgspec.structs.replace(one, played=played.get(one.block, 0))
        for one in run.present.upcoming
    )
    return tuple(
        one for one in now if one.played < one.seatings and (one.played or not run.cup.is_ladder)
    )


def _version(run: Run) -> str:
    """A text that changes with everything that pages show of a run without its matches."""
    present = msgspec.structs.replace(run.present, upcoming=())
    return f"{run.finished}-{len(run.decisions)}-{run.void_matches}-{present}"


def _basis(run: Run) -> tuple[int, Cup, bool]:
    """Return the facts that all matches must be read again for, if one changes.

    These are the number of void matches, the cup (if it grows, its blocks are renumbered; a
    ladder's are not, so its bots are left out), and whether matches are shown at once.
    """
    cup = replace(run.cup, bots=()) if run.cup.is_ladder else run.cup
    return run.void_matches, cup, _is_fresh(run)


def duration(seconds: float) -> str:
    """A time in its largest unit, such as 40 seconds, 3 minutes or 2 hours."""
    if seconds >= 1.5 * 86400:
        return ngettext("%(num)d day", "%(num)d days", round(seconds / 86400))
    if seconds >= 1.5 * 3600:
        return ngettext("%(num)d hour", "%(num)d hours", round(seconds / 3600))
    if seconds >= 1.5 * 60:
        return ngettext("%(num)d minute", "%(num)d minutes", round(seconds / 60))
    return ngettext("%(num)d second", "%(num)d seconds", max(1, round(seconds)))


def _swing(match: MatchSummary) -> int:
    return max(match.adjusted) - min(match.adjusted)


def _is_fresh(run: Run) -> bool:
    """Whether no cards of a finished match will be played again."""
    return run.finished or run.cup.format.cards == "fresh"
