"""Lists of finished matches: what somebody wants to see of them, page by page."""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import ceil
from typing import Final

import msgspec
import numpy as np
from flask import abort, render_template, request

from serving.work import PIECE
from tournament.language import gettext as _
from tournament.language import ngettext
from tournament.ranking.arrays import Ints
from tournament.records import FAULT_KINDS, MatchRecord, MatchSummary
from tournament.results.match_lines import match_lines
from tournament.results.reading import RunReader
from tournament.store.engine import StoreError
from web.arena.live_run import LiveRun, Snapshot, current_run

ANY: Final = "any"
_MATCHES: Final = 50  # of a page
_to_json: Final = msgspec.json.Encoder().encode
_CHOICES: Final = {"faults": (ANY, *map(str, FAULT_KINDS)), "result": ("won", "lost")}


@dataclass(frozen=True, slots=True)
class MatchFilter:
    """Conditions on matches, None where any match fits, and the number of a page of the list.

    With a `bot`, `faults` (a kind or `ANY`) and `result` are the bot's own. A bot has "won" if
    nobody had more points.
    """

    bot: str | None = None
    round: int | None = None
    block: int | None = None
    faults: str | None = None
    result: str | None = None
    page: int = 1

    def arguments(self) -> dict[str, str | int]:
        """The query arguments of an address with this filter."""
        found = asdict(self) | {"page": None}
        return {name: value for name, value in found.items() if value is not None}

    def rows(self, now: Snapshot) -> Ints:
        """Return the indices of the matches that fit in the arrays of a snapshot, latest in the
        schedule first."""
        arrays = now.arrays
        fits = np.ones(arrays.block.size, np.bool_)
        seated = np.ones(arrays.seats.shape, np.bool_)
        if self.bot is not None:
            seated = arrays.seats == arrays.bots.index(self.bot)
            fits = seated.any(axis=1)
        if self.round is not None:
            fits &= arrays.round == self.round
        if self.block is not None:
            fits &= now.blocks[arrays.block] == self.block
        if self.faults is not None:
            kinds = [self.faults in (ANY, kind) for kind in FAULT_KINDS]
            fits &= (arrays.faults[:, :, kinds].any(axis=2) & seated).any(axis=1)
        if self.result is not None:
            fits &= (arrays.best & seated).any(axis=1) == (self.result == "won")
        return np.flatnonzero(fits)[::-1]


def read_matches(now: Snapshot, rows: Ints) -> list[MatchSummary]:
    """Read the matches at these indices of the arrays. Return the latest in the schedule first."""
    places = zip(now.blocks[now.arrays.block[rows]], now.arrays.number[rows], strict=True)
    return current_run().store.at([(int(block), int(number)) for block, number in places])[::-1]


def asked_filter(now: Snapshot) -> MatchFilter:
    """Return the filter that the address asks for. Without a bot the result is ignored, because the
    form may still have one from an earlier choice.

    Answer with status 404 for a bot that is not in the cup, and with 400 for an unknown value.
    """
    bot = request.args.get("bot") or None
    faults, result = (
        _asked(name, "|".join(words), _("one of %(words)s", words=", ".join(words)))
        for name, words in _CHOICES.items()
    )
    if bot is None:
        result = None
    else:
        check_bot(now, bot)
    round, block, page = map(_asked_number, ("round", "block", "page"))
    return MatchFilter(bot, round, block, faults, result, page or 1)


def matches_page(now: Snapshot, asked: MatchFilter) -> str:
    """Return the requested page of the list. Answer with status 404 if there is no such page."""
    rows, page = asked.rows(now), asked.page
    last = max(1, ceil(rows.size / _MATCHES))
    if page > last:
        pages = ngettext("%(num)d page", "%(num)d pages", last)
        abort(
            404,
            _("There is no page %(page)d: these matches have %(pages)s.", page=page, pages=pages),
        )
    return render_template(
        "matches.html",
        now=now,
        out=now.out,
        asked=asked,
        choices=_CHOICES,
        rounds=int(now.arrays.round.max(initial=0)),
        matches=read_matches(now, rows[(page - 1) * _MATCHES : page * _MATCHES]),
        count=rows.size,
        last=last,
    )


def match_pieces(store: RunReader) -> Iterator[bytes]:
    """Yield the finished matches as JSON lines in UTF-8, many lines in a piece.

    If the store cannot be read to the end, the last line says so: it is an object with an `error`.
    """
    piece = bytearray()
    try:
        for line in match_lines(store):
            piece += _to_json(line) + b"\n"
            if len(piece) >= PIECE:
                yield bytes(piece)
                piece.clear()
    except StoreError as error:
        piece += _to_json({"error": str(error)}) + b"\n"
    if piece:
        yield bytes(piece)


def check_bot(now: Snapshot, name: str) -> None:
    """Answer with status 404 if no bot in the cup has this name."""
    if name not in now.bots:
        abort(
            404,
            _("There is no bot “%(bot)s” in this cup; the table lists all of them.", bot=name[:80]),
        )


def _asked_number(name: str) -> int | None:
    """Return a number in the query of the address, or None if the query has none. Answer with
    status 400 if the value is no number."""
    text = _asked(name, r"[0-9]{1,9}", _("a number such as 1"))
    return None if text is None else int(text)


def _asked(name: str, pattern: str, fix: str) -> str | None:
    text = request.args.get(name) or None
    if text is not None and not re.fullmatch(pattern, text):
        abort(
            400, _("%(asked)s is not known; write %(fix)s.", asked=f"{name}={text[:40]}", fix=fix)
        )
    return text


def finished_match(run: LiveRun, match: str) -> MatchRecord:
    """Return a match whose cards have been played in every seating. Answer with status 404 if there
    is none."""
    record = run.find(match)
    if record is None:
        abort(404, _("There is no finished match “%(match)s” in this run.", match=match[:80]))
    if run.is_open(record.block):
        abort(
            404,
            _(
                "Replays appear once the same cards have been played in every seating: block"
                " %(block)d is still being played.",
                block=record.block,
            ),
        )
    return record
