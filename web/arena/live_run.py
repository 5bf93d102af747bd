"""A run as its pages see it: read again when its store has changed, and not more often than that
is worth."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic, thread_time
from typing import Any

from flask import current_app

from tournament.decisions import disqualified, paused
from tournament.records import Decision, MatchRecord, MatchSummary
from tournament.results.match_arrays import MatchArrays, collect
from tournament.results.standings import Standings, compute
from tournament.store.reader import StoreReader
from web.arena.upcoming import Upcoming, upcoming

_LOOK_S = 2.0  # how long an answer about changes holds
_RATE_S = 600.0  # the matches of so long tell how fast a run is
_SHARE = 40  # reading the run takes at most one part in so many of a core
_PAGES = 256  # kept of one snapshot


class RenderedPages:
    """Pages of one snapshot, rendered once for all who look at them. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pages: dict[str, str] = {}

    def get(self, key: str, render: Callable[[], str]) -> str:
        """The page with this key; `render` makes it if it is not kept."""
        page = self._pages.get(key)
        if page is None:
            with self._lock:  # the other threads would only render the same meanwhile
                page = self._pages.get(key)
                if page is None:
                    page = render()
                    if len(self._pages) >= _PAGES:
                        del self._pages[next(iter(self._pages))]
                    self._pages[key] = page
        return page


@dataclass(frozen=True)
class Snapshot:
    """The run at one moment. `version` changes with the content.

    `out` are the bots that are disqualified. `open` are the blocks of which a match is still to be
    played: their other matches have the same cards, so nobody may see those yet. `rate` is the
    number of matches a second in the last minutes, None if it is not known.
    """

    version: str
    facts: dict[str, Any]
    matches: dict[str, MatchSummary]
    arrays: MatchArrays
    table: Standings
    open: frozenset[int]
    out: frozenset[str]
    upcoming: tuple[Upcoming, ...]
    rate: float | None
    pages: RenderedPages = field(default_factory=RenderedPages, compare=False)

    @property
    def bots(self) -> tuple[str, ...]:
        """The bots of the cup, also those that are disqualified."""
        return self.arrays.bots

    @property
    def paused(self) -> Decision | None:
        """The decision by which the cup is paused, if it is."""
        return None if self.table.finished else paused(self.table.decisions)

    def counts(self, match: MatchSummary) -> bool:
        """Whether a match counts: none of its table is disqualified."""
        return self.out.isdisjoint(match.table)

    def shown(self, match: MatchSummary) -> bool:
        """Whether the cards of a match may be shown."""
        return match.block not in self.open


def current_run() -> LiveRun:
    """The run whose pages the current application shows."""
    run: LiveRun = current_app.extensions["stich-run"]
    return run


class LiveRun:
    """A run that may be going on. Safe for threads."""

    def __init__(self, store: StoreReader, clock: Callable[[], float] = monotonic) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._next = 0.0
        self._counts: deque[tuple[float, int]] = deque()

    def snapshot(self) -> Snapshot:
        """The run as it was a moment ago: two seconds, or longer if it takes long to read.

        While one thread reads it again, the others get what was read before.
        """
        seen = self._snapshot
        taken = self._lock.acquire(blocking=seen is None)
        if seen is not None and not taken:
            return seen
        try:
            if self._snapshot is None or self._clock() >= self._next:
                self._snapshot = self._look()
            return self._snapshot
        finally:
            self._lock.release()

    def _look(self) -> Snapshot:
        now, began = self._clock(), thread_time()
        with self._store.snapshot() as store:
            found = self._look_at(store, now)
        # The first look also loads modules, so it tells nothing about the next.
        used = thread_time() - began if self._snapshot else 0.0
        self._next = self._clock() + max(_LOOK_S, _SHARE * used)
        return found

    def _look_at(self, store: StoreReader, now: float) -> Snapshot:
        facts = store.facts()
        count = store.count()
        self._counts.append((now, count))
        while self._counts[0][0] < now - _RATE_S or self._counts[0][1] > count:
            self._counts.popleft()
        incidents = f"{len(facts['decisions'])}-{store.count_voids()}"
        version = f"{count}-{bool(facts.get('finished'))}-{incidents}"
        seen = self._snapshot
        return seen if seen and seen.version == version else self._read(store, version, facts)

    def _read(self, store: StoreReader, version: str, facts: dict[str, Any]) -> Snapshot:
        found = list(store.summaries())
        arrays = collect(found, facts.get("bots", ()))
        played = Counter(match.block for match in found)
        return Snapshot(
            version=version,
            facts=facts,
            matches={match.match: match for match in found},
            arrays=arrays,
            table=compute(arrays, facts),
            open=frozenset()
            if facts.get("finished")
            else frozenset(one.block for one in found if played[one.block] < one.seatings),
            out=disqualified(facts),
            upcoming=upcoming(store, facts, played),
            rate=self._rate(),
        )

    def _rate(self) -> float | None:
        (began, first), (ended, last) = self._counts[0], self._counts[-1]
        return (last - first) / (ended - began) if last > first and ended > began else None

    def record(self, match: str) -> MatchRecord:
        """A finished match, whole; StoreError if there is none."""
        return self._store.match(match)
