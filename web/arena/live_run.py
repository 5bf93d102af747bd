"""A run as its pages see it: its snapshot is cached, and refreshed when the store has changed."""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from gettext import NullTranslations
from time import monotonic, thread_time
from typing import Any, Final, TypeVar

from flask import current_app

from tournament.config.cup import Cup
from tournament.language import ENGLISH, catalog, speak
from tournament.records import MatchRecord
from tournament.store.engine import damage
from tournament.store.run_reader import NoMatch, RunReader
from web.arena.snapshot import (
    RATE_S,
    EarlierTable,
    Matches,
    RunView,
    Snapshot,
    is_fresh,
    version_of,
)
from web.ui.page_steps import match_data, page_steps

_FRESH_S = 2.0  # the run is not read again for at least this long
_IDLE_S = 10.0  # a snapshot that is stale for longer is too old to be shown
_SHARE = 40  # refreshing takes at most 1/40 of a core
_HOUR_S, _DAY_S = 3600.0, 86400.0
_MAX_CACHED: Final = 256  # rendered pages and other values
_T = TypeVar("_T")


class LiveRun:
    """A run that may still be in progress, read from `store`. Several threads may call its methods
    at once, except `refresh`. `clock` returns the seconds since some fixed moment."""

    def __init__(self, store: RunReader, clock: Callable[[], float] = monotonic) -> None:
        self.store = store
        self._clock = clock
        self._refreshing = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._next = 0.0
        self._read_at = clock()
        self._counts: deque[tuple[float, int]] = deque()
        self._basis: tuple[int, Cup, bool] | None = None
        self._matches = Matches(at_once=False)
        self._tables: deque[tuple[float, EarlierTable]] = deque()
        self._cache: dict[tuple[NullTranslations, str], Any] = {}

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the run, refreshed first if it is stale.

        A snapshot is stale after two seconds, or later if the last refresh took long. While one
        caller refreshes the snapshot, other callers get the previous snapshot. If there is no
        previous snapshot, or it has been stale for ten seconds, the other callers wait.

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
        """The seconds since the run was last read for a snapshot, or since this object was made."""
        return self._clock() - self._read_at

    def view(self) -> RunView:
        """Read the run without its matches, and return a view of it.

        Raises:
            StoreError: if the run has not begun or cannot be read.
        """
        run = self.store.run()
        return RunView(version_of(run), run)

    def refresh(self) -> Snapshot:
        """Read the run again. Return a new snapshot, or the previous one if nothing has changed.
        Only one thread may call this method at a time.

        Raises:
            StoreError: if the run has not begun or cannot be read.
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
        run, count = store.run(), store.count()
        rate = self._rate(count)
        version = f"{count}-{rate == 0}-{version_of(run)}-{run.present.upcoming}"
        if self._snapshot and self._snapshot.version == version:
            return self._snapshot
        # If one of these facts changes, all matches must be read again. A new bot of a ladder does
        # not change what was read.
        cup = replace(run.cup, bots=()) if run.cup.is_ladder else run.cup
        basis = run.void_matches, cup, is_fresh(run)
        if basis != self._basis:
            self._basis, self._matches = basis, Matches(at_once=is_fresh(run))
        try:
            self._matches.read(store)
        except BaseException:
            self._basis = None  # what was read before the error is lost, so read all matches again
            raise
        snapshot = Snapshot(version, run, self._matches)
        snapshot.rate = rate
        snapshot.earlier = self._earlier(snapshot)
        return snapshot

    def _rate(self, count: int) -> float | None:
        """Record that `count` matches are finished now. Return how many matches per second were
        finished in the last ten minutes, or None if too little is known."""
        counts = self._counts
        counts.append((self._clock(), count))
        while counts[0][0] < self._clock() - RATE_S or counts[0][1] > count:
            counts.popleft()
        (began, first), (ended, last) = counts[0], counts[-1]
        elapsed = ended - began
        is_known = elapsed > 0 and (first < last or elapsed >= 0.9 * RATE_S)
        return (last - first) / elapsed if is_known else None

    def _earlier(self, now: Snapshot) -> EarlierTable | None:
        clock, tables = self._clock(), self._tables
        while tables and tables[0][0] < clock - _DAY_S:
            tables.popleft()
        if not tables or tables[-1][0] <= clock - _HOUR_S:
            places = {line.bot: line.place for line in now.table.standings}
            tables.append((clock, EarlierTable(datetime.now(UTC), places)))
        at, earlier = tables[0]
        return None if now.finished or at > clock - _HOUR_S else earlier

    def cached(self, key: str, make: Callable[[], _T]) -> _T:
        """Return the cached value for `key` in the reader's language. If there is no value, or the
        value is falsy, call `make` and cache its result. Errors of `make` pass through. Several
        threads may call `make` at once. The 256 most recently used values are kept."""
        cache, place = self._cache, (catalog(), key)
        value: _T = cache.pop(place, None) or make()
        cache[place] = value
        if len(cache) > _MAX_CACHED:
            cache.pop(next(iter(tuple(cache))), None)  # a copy, since other threads change it
        return value

    def find(self, match: str) -> MatchRecord | None:
        """Return the match with exactly this id if it is finished and not void, or else None.

        Raises:
            StoreError: if the store cannot be read.
        """
        try:
            record = self.store.match(match)
        except NoMatch:
            return None
        return record if record.match == match else None

    def match_data(self, record: MatchRecord) -> dict[str, Any]:
        """Return a match's data for replay.js in the reader's language, from the cache if possible.

        Raises:
            StoreError: if the store cannot be read, or the match is damaged.
        """
        cup = self.store.run().cup
        # A record has the bots' information and fallbacks only once its block is complete.
        key = f"match {record.match} {len(record.info)} {len(record.fallbacks)}"
        with damage(f"Match {record.match}"):
            return self.cached(key, lambda: match_data(record, cup, page_steps(record, cup)))

    def is_open(self, block: int) -> bool:
        """Return whether another match with the cards of this block has yet to be played. Return
        False if cards are fresh or the run is finished.

        Raises:
            StoreError: if the store cannot be read.
        """
        return not is_fresh(self.store.run()) and not self.store.is_complete(block)


def current_run() -> LiveRun:
    """Return the run whose pages the current application serves. The application must have one."""
    run: LiveRun = current_app.extensions["stich-run"]
    return run
