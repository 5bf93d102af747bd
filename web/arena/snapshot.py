"""What the pages show of a run at one moment."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Final

import msgspec
import numpy as np
from babel.dates import format_timedelta

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

RATE_S = 600.0
"""The window in seconds in which the rate of matches is measured."""
_RECENT: Final = 1000  # matches among which spectators find one to watch


@dataclass(frozen=True, slots=True)
class EarlierTable:
    """The places of the bots in the standings at the time `since`, in UTC. The place of a bot
    without an official place is None."""

    since: datetime
    places: Mapping[str, int | None]


class RunView:
    """A run without its matches, as the pages show it. Pages made from a view are out of date once
    a newer view has a different `version`."""

    def __init__(self, version: str, run: Run) -> None:
        self.version = version
        self.run = run
        self.name = run.cup.name
        self.finished = run.finished
        self.proof = run if isinstance(run, StoredRun) else None
        """The run, whose seed can be checked, if it is in a store. None for a file of matches."""
        self.disqualified = run.disqualified
        """The names of the disqualified bots."""

    @property
    def state(self) -> str:
        """The state of the run in one English word: over, paused, waiting or playing."""
        return "over" if self.finished else self.run.phase

    @property
    def status(self) -> str:
        """The state of the run in one line, in the reader's language."""
        present, pause = self.run.present, paused(self.run.decisions)
        if self.run.phase is Phase.WAITING:
            return _("Waiting for %(bots)s", bots=listed(present.awaited))
        if self.finished:
            return ": ".join(filter(None, (_("Over"), self.progress())))
        if pause is not None:
            why = f": {pause.why}" if pause.why else ""
            text = _("Paused since %(time)s", time=utc(pause.at)) + why
        else:
            text = ": ".join(filter(None, (_("Playing"), self.progress())))
        away = unreachable(present.away)
        return f"{text.rstrip('.')}. {away}" if away else text

    def progress(self) -> str:
        """Return the progress of the run as text: "" here, because the matches are not known."""
        return ""


class Snapshot(RunView):
    """A run with its standings at one moment. A newer snapshot has a different `version` if the run
    or its matches have changed."""

    def __init__(self, version: str, run: Run, matches: Matches) -> None:
        super().__init__(version, run)
        self.arrays = matches.collector.arrays(run.cup.names)
        self.table = compute(self.arrays, run)
        self.places = {line.bot: at for at, line in enumerate(self.table.standings, start=1)}
        """The position of each bot in the standings, which is known before official places are."""
        self.bots = self.arrays.bots
        """The names of the cup's bots, including disqualified bots."""
        self.played = dict(matches.played)
        """The number of finished matches by block."""
        self.blocks = np.array(sorted(self.played.keys() - matches.withheld.keys()), np.int64)
        """The numbers of the blocks in the order in which the arrays hold them."""
        self.withheld = tuple(chain.from_iterable(matches.withheld.values()))
        """The finished matches of incomplete blocks, which no page shows. There are none with fresh
        cards, or when the run is finished."""
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
        """Return, as text, the number of tables in play, the matches played, and the time left, or
        only the matches once the run is over. What is not known is left out. After about ten
        minutes without a match, the text says so instead of the tables and the time left."""
        counted = self.table.matches + len(self.withheld)
        table = replace(self.table, played=self.matches, matches=counted)
        matches = format_matches(table, self.total)
        if self.finished:
            return matches
        if self.rate == 0:
            return _(
                "%(matches)s, none in the last %(time)s", matches=matches, time=duration(RATE_S)
            )
        playing = len(self.playing)
        tables = ngettext("%(num)d table", "%(num)d tables", playing) if playing else ""
        return ", ".join(filter(None, (tables, matches, self.left)))

    @property
    def playing(self) -> tuple[Upcoming, ...]:
        """The blocks of `upcoming` that are being played now, at most as many as the cup plays at
        once. Empty unless the run is being played."""
        is_playing = self.run.phase is Phase.PLAYING
        return self.upcoming[: self.run.cup.run.concurrency] if is_playing else ()

    @property
    def left(self) -> str:
        """The time left, in words, or "" in a ladder, if the run is not being played, or if the
        time is not known."""
        if not self.rate or self.run.phase is not Phase.PLAYING or self.run.cup.is_ladder:
            return ""
        time = duration((self.total - self.matches) / self.rate)
        if self.table.stop or self.run.gone:  # some of the planned matches may be dropped
            return _("at most %(time)s left", time=time)
        return _("about %(time)s left", time=time)


class Matches:
    """The matches read so far, in the form that the statistics need. The matches of a block are
    withheld until the block is complete, unless `at_once`."""

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
        """Record the matches written since the last call, while they are read. Yield those that may
        be shown: every match if `at_once`, or all matches of a block when the block is complete.

        Raises:
            StoreError: during iteration, if the store cannot be read.
        """
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
    """Return the next blocks that the runner has stored, except any that are complete by now.

    `played` maps blocks to their numbers of finished matches, which replace the stored numbers. In
    a ladder, only blocks with a finished match are included, so that bots do not learn their next
    tables. A finished run has no next blocks.
    """
    if run.finished:
        return ()
    blocks = (
        msgspec.structs.replace(block, played=played.get(block.block, 0))
        for block in run.present.upcoming
    )
    least = 1 if run.cup.is_ladder else 0
    return tuple(block for block in blocks if least <= block.played < block.seatings)


def version_of(run: Run) -> str:
    """Return a string that changes whenever the run does, except if only its next blocks change.
    Only strings from the same process can be compared."""
    present = msgspec.structs.replace(run.present, upcoming=())
    facts = {field.name: getattr(run, field.name) for field in fields(run)}
    # Decisions and epochs are only added. A cup changes only with them and with the total.
    counts = {"decisions": len(run.decisions), "epochs": len(run.epochs), "cup": None}
    return f"{hash(repr(facts | counts | {'present': present})):x}"


def duration(seconds: float) -> str:
    """Return a time, rounded and in one unit, such as "40 seconds", "3 minutes" or "2 hours", in
    the reader's language. A unit is used from 1.5 on, so 80 seconds stay seconds. Times below a
    second become 1 second."""
    language = catalog().info().get("language", "en")
    return format_timedelta(timedelta(seconds=max(1, seconds)), threshold=1.5, locale=language)


def _margin(match: MatchSummary) -> int:
    """Return the difference in points between the best and the worst seat of a match."""
    return max(match.adjusted) - min(match.adjusted)


def is_fresh(run: Run) -> bool:
    """Return whether the cards of finished matches are never played again, because the cup has
    fresh cards or the run is finished."""
    return run.finished or run.cup.format.cards == "fresh"
