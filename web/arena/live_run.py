"""The pages' view of a run. The standings are cached, and refreshed when the store has changed."""

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

_FRESH_S = 2.0  # the run is not read again for at least this long
_IDLE_S = 10.0  # a snapshot that is stale for longer is too old to be shown
_RATE_S = 600.0  # the window in which the rate of matches is measured
_SHARE = 40  # refreshing takes at most 1/40 of a core
_HOUR_S, _DAY_S = 3600.0, 86400.0
_MAX_CACHED: Final = 256  # rendered pages and other values
_RECENT: Final = 1000  # matches among which spectators find one to watch
_STATES: Final = {
    "over": N_("Over"),
    Phase.PAUSED: N_("Paused"),
    Phase.PLAYING: N_("Playing"),
}
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class EarlierTable:
    """The places of the bots in the standings at the time `since`, in UTC. The place of a bot
    without an official place is None."""

    since: datetime
    places: Mapping[str, int | None]


class RunView:
    """A run without its matches, as the pages show it. When `version` changes, pages made from this
    view are out of date."""

    def __init__(self, version: str, run: Run) -> None:
        self.version = version
        self.run = run
        self.name = run.cup.name
        self.finished = run.finished
        self.proof = run if isinstance(run, StoredRun) else None
        """The run if it is in a store, so that its seed can be checked. None for a file of
        matches."""
        self.disqualified = run.disqualified
        """The names of the disqualified bots."""

    @property
    def state(self) -> str:
        """The state of the run in one word: over, paused, waiting or playing."""
        return "over" if self.finished else self.run.phase

    @property
    def status(self) -> str:
        """The state of the run in one line, in the reader's language."""
        phase, present = self.run.phase, self.run.present
        if phase is Phase.WAITING:
            return _("Waiting for %(bots)s", bots=listed(present.awaited))
        text = ": ".join(filter(None, (_(_STATES[self.state]), self.progress())))
        pause = paused(self.run.decisions)
        if phase is Phase.PAUSED and pause is not None:
            why = f": {pause.why}" if pause.why else ""
            text = _("Paused since %(time)s", time=utc(pause.at)) + why
        away = "" if self.finished else unreachable(present.away)
        return f"{text.rstrip('.')}. {away}" if away else text

    def progress(self) -> str:
        """Return a text about the progress of the run, or "" if the progress is not known."""
        return ""


class Snapshot(RunView):
    """A run with its standings at one moment. When the run or its matches change, so does
    `version`."""

    def __init__(self, version: str, run: Run, matches: _Matches) -> None:
        super().__init__(version, run)
        self.arrays = matches.collector.arrays(run.cup.names)
        self.table = compute(self.arrays, run)
        self.bots = self.arrays.bots
        """The names of the cup's bots, with the disqualified ones."""
        self.played = dict(matches.played)
        """The number of finished matches by block."""
        self.blocks = np.array(sorted(self.played.keys() - matches.withheld.keys()), np.int64)
        """The numbers of the blocks in the order in which the arrays hold them."""
        self.withheld = tuple(chain.from_iterable(matches.withheld.values()))
        """The finished matches of incomplete blocks, which are in no table or list. The matches
        still to be played have the same cards, and a score tells something about the cards. There
        are none with fresh cards, or when the run is finished."""
        self.recent = tuple(reversed(matches.recent))
        """Up to 1000 matches that may be shown, those that ended last, newest first."""
        self.latest = next(iter(self.recent), None)
        """The first match of `recent`, or None."""
        self.swing = matches.swing
        """The match with the widest margin between two seats, or None before the first match."""
        self.matches = int(self.arrays.block.size) + len(self.withheld)
        """The number of finished matches."""
        self.total = max(self.matches, run.total or 0)
        """The number of planned matches, or of finished matches if that is larger or the plan is
        not known."""
        self.upcoming = _upcoming(run, self.played)
        """The next blocks, beginning with those that are being played."""
        self.rate: float | None = None
        """The number of matches per second in the last ten minutes, or None if it is not known."""
        self.earlier: EarlierTable | None = None
        """The places an hour to a day ago, or None if the pages were not served then or the run is
        over."""

    def progress(self) -> str:
        """Return a text with the number of tables in play, the matches played, and the time left.
        What is not known is left out."""
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
        """The time left, in words. "" in a ladder, if nothing is being played, or if the time is
        not known."""
        if not self.rate or self.run.phase is not Phase.PLAYING or self.run.cup.is_ladder:
            return ""
        time = duration((self.total - self.matches) / self.rate)
        if self.table.stop or self.run.gone:  # some of the planned matches may be dropped
            return _("at most %(time)s left", time=time)
        return _("about %(time)s left", time=time)


def current_run() -> LiveRun:
    """Return the run whose pages the current application serves."""
    run: LiveRun = current_app.extensions["stich-run"]
    return run


class _Matches:
    """The matches read so far, in the form that the statistics need. The matches of a block are
    withheld until the block is complete, unless matches are shown `at_once`."""

    def __init__(self, at_once: bool) -> None:
        self._at_once = at_once
        self.collector = MatchCollector()
        self.played: Counter[int] = Counter()  # by block
        self.withheld: dict[int, list[MatchSummary]] = {}  # by block
        self.swing: MatchSummary | None = None
        self.recent: deque[MatchSummary] = deque(maxlen=_RECENT)
        self._last = -1

    def read(self, store: RunReader) -> None:
        """Add the matches written to the store since the last call.

        Raises:
            StoreError: if the store cannot be read.
        """
        self.collector.add(self._new(store))

    def _new(self, store: RunReader) -> Iterator[MatchSummary]:
        """Note the matches written since the last call. Yield the matches that may be shown now:
        every match at once, or all matches of a block once the block is complete."""
        for sequence, match in store.written_after(self._last):
            self._last = sequence
            self.played[match.block] += 1
            block = [*self.withheld.pop(match.block, ()), match]
            if not self._at_once and len(block) < match.seatings:
                self.withheld[match.block] = block
                continue
            self.recent.extend(block)
            self.swing = max(filter(None, (self.swing, *block)), key=_margin)
            yield from block


class LiveRun:
    """A run that may still be in progress. Several threads may call its methods at once, except
    `refresh`."""

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
        self._cache: dict[tuple[NullTranslations, str], Any] = {}

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the run, and refresh it first if it is stale.

        One caller refreshes the snapshot at a time. The others get the previous snapshot, or wait
        if there is none or it is too old to be shown.

        Raises:
            NotBegun: if the run has not begun.
            StoreError: if the store cannot be read.
        """
        too_old = self._snapshot is None or self._clock() >= self._next + _IDLE_S
        if self._clock() >= self._next and self._refreshing.acquire(blocking=too_old):
            try:
                if self._clock() >= self._next:
                    self.refresh()
            finally:
                self._refreshing.release()
        return self._snapshot or self.refresh()

    @property
    def age_s(self) -> float:
        """The time in seconds since the run was last read."""
        return self._clock() - self._read_at

    def view(self) -> RunView:
        """Read the run without its matches, and return a view of it.

        Raises:
            NotBegun: if the run has not begun.
            StoreError: if the store cannot be read.
        """
        run = self.store.run()
        return RunView(_version(run), run)

    def refresh(self) -> Snapshot:
        """Read the run again, and return the new snapshot, or the same one if nothing has changed.
        Only one thread may call this at a time.

        Raises:
            NotBegun: if the run has not begun.
            StoreError: if the store cannot be read.
        """
        began = thread_time()
        first = self._snapshot is None
        reader = catalog()
        speak(ENGLISH)  # a snapshot is for readers of all languages
        try:
            with self.store.snapshot() as store:
                self._snapshot = self._read(store)
        finally:
            speak(reader)
        # The first refresh also loads modules, so its time says nothing about the next one.
        used = 0.0 if first else thread_time() - began
        self._read_at = self._clock()
        self._next = self._read_at + max(_FRESH_S, _SHARE * used)
        return self._snapshot

    def _read(self, store: RunReader) -> Snapshot:
        """Read what is new in the store. Return a new snapshot, or the current one if its version
        is the same."""
        run, count = store.run(), store.count()
        rate = self._rate(count)
        version = f"{count}-{rate == 0}-{_version(run)}-{run.present.upcoming}"
        if self._snapshot and self._snapshot.version == version:
            return self._snapshot
        basis = _basis(run)
        if basis != self._basis:
            self._basis, self._matches = basis, _Matches(at_once=_is_fresh(run))
        self._matches.read(store)
        snapshot = Snapshot(version, run, self._matches)
        snapshot.rate = rate
        snapshot.earlier = self._earlier(snapshot)
        return snapshot

    def _rate(self, count: int) -> float | None:
        """Note the number of finished matches. Return the matches per second in the last ten
        minutes, or None if it is not known. The rate is 0 only after nine minutes without a
        match."""
        counts = self._counts
        counts.append((self._clock(), count))
        while counts[0][0] < self._clock() - _RATE_S or counts[0][1] > count:
            counts.popleft()
        (began, first), (ended, last) = counts[0], counts[-1]
        elapsed = ended - began
        if elapsed <= 0 or (first == last and elapsed < 0.9 * _RATE_S):
            return None
        return (last - first) / elapsed

    def _earlier(self, now: Snapshot) -> EarlierTable | None:
        """Note the places in this snapshot once an hour, and forget those more than a day old.
        Return the oldest ones, or None if they are less than an hour old or the run is over."""
        clock, tables = self._clock(), self._tables
        while tables and tables[0][0] < clock - _DAY_S:
            tables.popleft()
        if not tables or tables[-1][0] <= clock - _HOUR_S:
            places = {line.bot: line.place for line in now.table.standings}
            tables.append((clock, EarlierTable(datetime.now(UTC), places)))
        at, earlier = tables[0]
        return None if now.finished or at > clock - _HOUR_S else earlier

    def cached(self, key: str, make: Callable[[], _T]) -> _T:
        """Return the cached value for `key` in the reader's language. If there is no value, or a
        falsy one such as None, call `make` and cache its result. Beyond 256 values, the least
        recently used one is dropped."""
        cache, place = self._cache, (catalog(), key)
        value: _T = cache.pop(place, None) or make()
        cache[place] = value
        if len(cache) > _MAX_CACHED:
            cache.pop(next(iter(tuple(cache))), None)  # a copy, since other threads change it
        return value

    def find(self, match: str) -> MatchRecord | None:
        """Return the finished match with this id, or None if there is none.

        Raises:
            StoreError: if the store cannot be read, or if several ids begin with `match`, and none
                is `match`.
        """
        try:
            record = self.store.match(match)
        except NoMatch:
            return None
        return record if record.match == match else None

    def is_open(self, block: int) -> bool:
        """Return whether a match with the cards of this block is still to be played. This is never
        the case with fresh cards, or when the run is finished.

        Raises:
            StoreError: if the store cannot be read.
        """
        return not _is_fresh(self.store.run()) and not self.store.is_complete(block)


def _upcoming(run: Run, played: Mapping[int, int]) -> tuple[Upcoming, ...]:
    """Return the next blocks that the runner has stored, without those that have ended since.

    `played` is the number of finished matches by block. In a ladder, only blocks that have begun
    are included: a bot that knew the next tables could stay away from them. A finished run has no
    next blocks.
    """
    if run.finished:
        return ()
    blocks = (
        msgspec.structs.replace(block, played=played.get(block.block, 0))
        for block in run.present.upcoming
    )
    least = 1 if run.cup.is_ladder else 0
    return tuple(block for block in blocks if least <= block.played < block.seatings)


def _version(run: Run) -> str:
    """Return a text that changes with the decisions, the void matches, the end of the run, and its
    current state apart from the next blocks."""
    present = msgspec.structs.replace(run.present, upcoming=())
    return f"{run.finished}-{len(run.decisions)}-{run.void_matches}-{present}"


def _basis(run: Run) -> tuple[int, Cup, bool]:
    """Return the facts on which the reading of matches depends: if a fact changes, all matches are
    read again.

    These are the number of void matches, the cup, and whether matches are shown at once. A cup that
    grows renumbers its blocks. A ladder does not, so its bots are left out.
    """
    cup = replace(run.cup, bots=()) if run.cup.is_ladder else run.cup
    return run.void_matches, cup, _is_fresh(run)


def duration(seconds: float) -> str:
    """Return a time in one unit, rounded, such as "40 seconds", "3 minutes" or "2 hours", in the
    reader's language.

    A unit is used from 1.5 on: 80 seconds stay seconds, and 90 seconds are "2 minutes". The
    shortest time is "1 second".
    """
    if seconds >= 1.5 * _DAY_S:
        return ngettext("%(num)d day", "%(num)d days", round(seconds / _DAY_S))
    if seconds >= 1.5 * _HOUR_S:
        return ngettext("%(num)d hour", "%(num)d hours", round(seconds / _HOUR_S))
    if seconds >= 1.5 * 60:
        return ngettext("%(num)d minute", "%(num)d minutes", round(seconds / 60))
    return ngettext("%(num)d second", "%(num)d seconds", max(1, round(seconds)))


def _margin(match: MatchSummary) -> int:
    """Return the difference in points between the best and the worst seat of a match."""
    return max(match.adjusted) - min(match.adjusted)


def _is_fresh(run: Run) -> bool:
    """Whether no match still to be played has the cards of a finished match."""
    return run.finished or run.cup.format.cards == "fresh"
