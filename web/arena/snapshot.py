"""What the pages show of a run at one moment."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Final

import numpy as np
from babel.dates import format_timedelta
from msgspec import structs

from tournament.decisions import paused
from tournament.display.formatting import format_matches
from tournament.language import catalog, ngettext
from tournament.language import gettext as _
from tournament.model import Phase, Run, StoredRun, Upcoming
from tournament.records import MatchSummary
from tournament.results.match_arrays import MatchCollector
from tournament.results.standings import compute
from tournament.store.run_reader import RunReader
from tournament.text import listed, unreachable, utc

RATE_S = 600.0  # the window in which the rate of matches is measured
_RECENT: Final = 1000  # matches among which spectators find one to watch


@dataclass(frozen=True, slots=True)
class EarlierTable:
    """The bots' places in the standings at the time `since`, in UTC. None means no place."""

    since: datetime
    places: Mapping[str, int | None]


class RunView:
    """A run without its matches. Pages made from a view are out of date once `version` changes."""

    def __init__(self, version: str, run: Run) -> None:
        self.version = version
        self.run = run
        self.name = run.cup.name
        self.finished = run.finished
        self.proof = run if isinstance(run, StoredRun) else None  # None for a file of matches
        self.disqualified = run.disqualified

    @property
    def status(self) -> str:
        """The state of the run in one line, in the reader's language."""
        if self.run.phase is Phase.WAITING:
            return _("Waiting for %(bots)s", bots=listed(self.run.present.awaited))
        ended = {Phase.OVER: _("Over"), Phase.STOPPED: _("Stopped")}.get(self.run.phase)
        text = ": ".join(filter(None, (ended or _("Playing"), self.progress())))
        if ended:
            return text
        if pause := paused(self.run.decisions):
            why = f": {pause.why}" if pause.why else ""
            text = _("Paused since %(time)s", time=utc(pause.at)) + why
        away = unreachable(self.run.present.away)
        return f"{text.rstrip('.')}. {away}" if away else text

    def progress(self) -> str:
        """Return "", because the matches are not known here. A `Snapshot` returns a sentence."""
        return ""


class Snapshot(RunView):
    """A run with its standings at one moment. `version` changes with the run and its matches."""

    def __init__(self, version: str, run: Run, matches: Matches) -> None:
        super().__init__(version, run)
        self.arrays = matches.collector.arrays(run.cup.names)
        self.table = compute(self.arrays, run)
        # Positions in the standings, which are known before official places are.
        self.places = {line.bot: at for at, line in enumerate(self.table.standings, start=1)}
        self.bots = self.arrays.bots  # including disqualified bots
        self.played = dict(matches.played)  # the number of finished matches by block
        # The numbers of the blocks in the order in which the arrays hold them.
        self.blocks = np.array(sorted(self.played.keys() - matches.withheld.keys()), np.int64)
        # The finished matches of incomplete blocks with shared cards, which no page shows.
        self.withheld = tuple(chain.from_iterable(matches.withheld.values()))
        self.recent = tuple(reversed(matches.recent))  # up to 1000 that may be shown, newest first
        self.latest = next(iter(self.recent), None)
        self.swing = matches.swing  # the match with the widest margin between two seats, or None
        self.matches = int(self.arrays.block.size) + len(self.withheld)  # all finished matches
        self.total = max(self.matches, run.total or 0)  # planned, as far as the plan is known
        self.upcoming = _upcoming(run, self.played)  # beginning with those that are being played
        self.rate: float | None = None  # matches per second in the last ten minutes, if known
        self.earlier: EarlierTable | None = None  # an hour to a day ago; None if the run is over

    def progress(self) -> str:
        """Return the progress in words: the tables in play, the matches played and, if known, the
        time left. Once the run is over, give only the matches. If no match has ended for about ten
        minutes, say so in place of the tables and the time left."""
        counted = self.table.matches + len(self.withheld)
        table = replace(self.table, played=self.matches, matches=counted)
        matches = format_matches(table, self.total)
        if self.finished:
            return matches
        if self.rate == 0:
            time = duration(RATE_S)
            return _("%(matches)s, none in the last %(time)s", matches=matches, time=time)
        playing = len(self.playing)
        tables = ngettext("%(num)d table", "%(num)d tables", playing) if playing else ""
        return ", ".join(filter(None, (tables, matches, self.left)))

    @property
    def playing(self) -> tuple[Upcoming, ...]:
        """The blocks that are being played now: the first of `upcoming`, one for each table that
        the cup can play at once, or () if the run is not playing."""
        most = self.run.cup.run.concurrency if self.run.phase is Phase.PLAYING else 0
        return self.upcoming[:most]

    @property
    def left(self) -> str:
        """The time left, in words, or "" if unknown, if the run is not playing, or in a ladder."""
        if not self.rate or self.run.phase is not Phase.PLAYING or self.run.cup.is_ladder:
            return ""
        time = duration((self.total - self.matches) / self.rate)
        if self.table.stop or self.run.gone:  # some of the planned matches may be dropped
            return _("at most %(time)s left", time=time)
        return _("about %(time)s left", time=time)


class Matches:
    """The matches read so far, in the form that the statistics need. The matches of a block are
    withheld until the block is complete, unless `at_once` is true."""

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
            StoreError: if the store cannot be read. This object must then be discarded.
        """
        self.collector.add(self._new(store))

    def _new(self, store: RunReader) -> Iterator[MatchSummary]:
        """Record the new matches while they are read, and yield those that may be shown.
        Errors are as in `read`."""
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


def _upcoming(run: Run, played: Mapping[int, int]) -> tuple[Upcoming, ...]:
    """Return the run's next blocks that are not complete yet, or () if the run is finished. In a
    ladder, also leave out blocks without a finished match, so that bots do not learn their next
    tables. `played` maps blocks to their numbers of finished matches."""
    if run.finished:
        return ()
    stored, least = run.present.upcoming, 1 if run.cup.is_ladder else 0
    blocks = (structs.replace(block, played=played.get(block.block, 0)) for block in stored)
    return tuple(block for block in blocks if least <= block.played < block.seatings)


def version_of(run: Run) -> str:
    """Return a string that changes if anything in the run changes except its next blocks. Only
    strings from the same process can be compared."""
    present = structs.replace(run.present, upcoming=())
    facts = {field.name: getattr(run, field.name) for field in fields(run)}
    # Decisions and epochs are only added. A cup changes only with them and with the total.
    counts = {"decisions": len(run.decisions), "epochs": len(run.epochs), "cup": None}
    return f"{hash(repr(facts | counts | {'present': present})):x}"


def duration(seconds: float) -> str:
    """Return a time as text in the reader's language, in one unit, such as "40 seconds" or "2
    hours". From 1.5 minutes, hours and so on, the larger unit is used. The shortest time is "1
    second"."""
    language = catalog().info().get("language", "en")
    return format_timedelta(timedelta(seconds=max(1, seconds)), threshold=1.5, locale=language)


def _margin(match: MatchSummary) -> int:
    return max(match.adjusted) - min(match.adjusted)


def is_fresh(run: Run) -> bool:
    """Return whether no match that is yet to be played has the cards of a finished match."""
    return run.finished or run.cup.format.cards == "fresh"
