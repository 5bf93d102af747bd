"""What the first page of a run shows beside the table: who leads, a table to watch, news."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

import games
from tournament.decisions import describe
from tournament.display.formatting import format_scores
from tournament.language import gettext as _
from tournament.language import ngettext
from tournament.records import MatchRecord, Skip
from tournament.run.live_table import MOST_MOVES
from web.arena.live_run import LiveRun, Snapshot
from web.ui.page_steps import PageStep, page_steps

_LOOKED_BACK = 50  # moves
_DECISIONS = 6


@dataclass(frozen=True, slots=True)
class TableToWatch:
    """A position near the end of a match: the cards on the table, and by seat the bot's name and a
    text with its roles and number of cards.

    `ended` is when the match ended, in UTC.
    """

    ended: datetime
    cards: tuple[str, ...]
    seats: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class News:
    """A line of news. `at` is the time in UTC, or None for a permanent notice. `match` is the id of
    the match that the line is about, or ""."""

    at: datetime | None
    text: str
    match: str = ""


def table_to_watch(run: LiveRun, now: Snapshot) -> TableToWatch | None:
    """The largest of the last tricks of the latest match, or None if there is none to show."""
    record = run.find(now.latest.match) if now.latest else None
    if record is None or len(record.moves) > MOST_MOVES:
        return None
    with suppress(games.IllegalMove, ValueError):  # of a match that is damaged
        steps = page_steps(record, now.run.cup)[-_LOOKED_BACK:]
        last = max(reversed(steps), key=lambda step: len(_on_table(step)))
        seats = tuple(
            (bot, ", ".join([*roles, _count(hand)]))
            for bot, roles, hand in zip(record.seating, last["roles"], last["hands"], strict=True)
        )
        cards = _on_table(last)
        return TableToWatch(ended(record), cards, seats) if cards else None
    return None


def _count(hand: str) -> str:
    return ngettext("%(num)d card", "%(num)d cards", len(hand.replace(" ", "")) // 2)


def _on_table(step: PageStep) -> tuple[str, ...]:
    """The cards that lie on the table."""
    lie = "".join(cards for _, _, cards, _, on_table in step["facts"] if on_table)
    return tuple(lie[at : at + 2] for at in range(0, len(lie), 2))


def ended(record: MatchRecord) -> datetime:
    """When a match ended, in UTC."""
    return datetime.fromisoformat(record.started) + timedelta(milliseconds=record.wall_ms)


def news(run: LiveRun, now: Snapshot) -> list[News]:
    """The latest decisions and the most remarkable match, newest first, then the permanent
    notices."""
    # Of a ladder whose bots go away, skipped matches would be all the news.
    decisions = [one for one in now.run.decisions if not isinstance(one, Skip)]
    found = [News(datetime.fromisoformat(one.at), describe(one)) for one in decisions[-_DECISIONS:]]
    match = now.swing
    if match and now.out.isdisjoint(match.table) and (record := run.find(match.match)):
        scores = format_scores(match.seating, match.adjusted)
        text = _("The most points in one match: %(scores)s.", scores=scores)
        found.append(News(ended(record), text, match.match))
    found.sort(key=lambda one: str(one.at), reverse=True)
    return found + [News(None, text) for text in now.run.caveats()]
