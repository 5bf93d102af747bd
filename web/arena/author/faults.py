"""The faults of one bot, as its author sees them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import Final

from tournament.records import FaultRecord, MatchRecord, MatchSummary
from web.arena.live_run import LiveRun, Snapshot

SHOWN: Final = 100
"""The most faults of a list."""


BotFault = tuple[MatchRecord, FaultRecord]
"""A fault, after its match, whole."""


def count(match: MatchSummary, bot: str) -> int:
    """The number of a bot's faults in a match."""
    seats = zip(match.seating, match.faults, strict=True)
    return sum(sum(kinds) for name, kinds in seats if name == bot)


def latest(run: LiveRun, now: Snapshot, bot: str) -> list[BotFault]:
    """The latest faults of a bot in the matches whose cards may be shown, newest first."""
    return list(islice(_newest_first(run, now, bot), SHOWN))


def hidden(run: LiveRun, now: Snapshot, bot: str) -> int:
    """The number of faults in matches whose cards may not be shown yet."""
    played = chain.from_iterable(run.newest(block=block) for block in now.open)
    return sum(count(match, bot) for match in played)


def find(
    run: LiveRun, now: Snapshot, bot: str, match: str, turn: int, seat: int
) -> BotFault | None:
    """One fault of a bot; None if it has no such one, or its match may not be shown."""
    record = run.find(match)
    if record is None or run.is_open(record.block):
        return None
    for found in _of(record, bot):
        if (found[1].turn, found[1].seat) == (turn, seat):
            return found
    return None


def _newest_first(run: LiveRun, now: Snapshot, bot: str) -> Iterator[BotFault]:
    for match in run.newest(bot=bot, faulty=True):
        if now.shown(match) and count(match, bot):
            record = run.find(match.match)
            if record is not None:
                yield from reversed(list(_of(record, bot)))


def _of(record: MatchRecord, bot: str) -> Iterator[BotFault]:
    for fault in sorted(record.faults, key=lambda fault: fault.move):
        if record.seating[fault.seat] == bot:
            yield record, fault
