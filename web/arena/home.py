"""The parts of a run's first page besides the standings: a table to watch, and news."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from tournament.decisions import describe
from tournament.display.formatting import format_scores
from tournament.language import gettext as _
from tournament.language import ngettext
from tournament.records import MatchRecord, Skip
from tournament.run.workers.live_table import MOST_MOVES
from tournament.store.engine import StoreError, damage
from web.arena.live_run import LiveRun
from web.arena.snapshot import Snapshot
from web.ui.page_steps import PageStep, page_steps

_LAST_MOVES = 50
_LATEST_DECISIONS = 6


@dataclass(frozen=True, slots=True)
class TableToWatch:
    """A position near the end of a match."""

    ended: datetime | None
    cards: tuple[str, ...]  # on the table
    seats: tuple[tuple[str, str], ...]  # each bot, with its roles and number of cards as text


@dataclass(frozen=True, slots=True)
class News:
    """A line of news."""

    at: datetime | None  # in UTC; None for a permanent notice or an unknown time
    text: str
    match: str = ""  # the id of the match that the news is about


def table_to_watch(run: LiveRun, now: Snapshot) -> TableToWatch | None:
    """Return a position of the last match that may be shown. Of the match's last 50 positions, this
    is the position with the most cards on the table, or the latest if there are several.

    Return None if no match may be shown, if the match is void, cannot be replayed or has over 3,000
    moves, or if none of the positions has cards on the table.

    Raises:
        StoreError: if the store, or the match in it, cannot be read.
    """
    record = run.find(now.latest.match) if now.latest else None
    if record is None or len(record.moves) > MOST_MOVES:
        return None
    with suppress(StoreError), damage(run.store.where):
        steps = page_steps(record, now.run.cup)[-_LAST_MOVES:]
        step = max(reversed(steps), key=lambda step: len(_on_table(step)))
        seats = tuple(
            (bot, ", ".join([*roles, _count(hand)]))
            for bot, roles, hand in zip(record.seating, step["roles"], step["hands"], strict=True)
        )
        cards = _on_table(step)
        return TableToWatch(ended(record), cards, seats) if cards else None
    return None


def _count(hand: str) -> str:
    return ngettext("%(num)d card", "%(num)d cards", len(hand.replace(" ", "")) // 2)


def _on_table(step: PageStep) -> tuple[str, ...]:
    text = "".join(cards for _, _, cards, _, on_table in step["facts"] if on_table)
    return tuple(text[at : at + 2] for at in range(0, len(text), 2))


def ended(record: MatchRecord) -> datetime | None:
    """Return the UTC time when a match ended, or None if the time is not known. For a match from a
    file, return the time when the match began."""
    if not record.started:
        return None
    return datetime.fromisoformat(record.started) + timedelta(milliseconds=record.wall_ms)


def news(run: LiveRun, now: Snapshot) -> list[News]:
    """Return up to six lines about the latest decisions and a line about the match with the widest
    margin between two seats, latest first. The run's caveats follow.

    A line whose time is unknown comes first. Decisions to skip matches are left out. The line about
    the match is left out if the match has become void, or if a bot at its table is disqualified.

    Raises:
        StoreError: if the store cannot be read.
    """
    # In a ladder whose bots go away, skipped matches would be all the news.
    decisions = [decision for decision in now.run.decisions if not isinstance(decision, Skip)]
    lines = [
        News(datetime.fromisoformat(decision.at), describe(decision))
        for decision in decisions[-_LATEST_DECISIONS:]
    ]
    match = now.swing
    if match and now.disqualified.isdisjoint(match.table) and (record := run.find(match.match)):
        scores = format_scores(match.seating, match.adjusted)
        text = _("The most points in one match: %(scores)s.", scores=scores)
        lines.append(News(ended(record), text, match.match))
    lines.sort(key=lambda line: str(line.at), reverse=True)
    return lines + [News(None, text) for text in now.run.caveats()]
