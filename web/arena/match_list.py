"""Lists of finished matches: filters, pages, and all matches as JSON lines."""

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
from tournament.results.files.match_lines import match_lines
from tournament.store.engine import StoreError
from tournament.store.run_reader import RunReader
from web.arena.live_run import LiveRun, current_run
from web.arena.snapshot import Snapshot

ANY: Final = "any"
_PAGE_SIZE: Final = 50
_to_json: Final = msgspec.json.Encoder().encode
_NUMBERS: Final = ("round", "block", "page")
_CHOICES: Final = {"faults": (ANY, *map(str, FAULT_KINDS)), "result": ("won", "lost")}


@dataclass(frozen=True, slots=True)
class MatchFilter:
    """Conditions on matches, each None if it is not set, and the number of a page in the list."""

    bot: str | None = None
    round: int | None = None
    block: int | None = None
    faults: str | None = None  # a kind of fault, or `ANY`; with a `bot`, only its faults count
    result: str | None = None  # "won", with no bot ahead, or "lost"; needs a `bot`
    page: int = 1  # counted from 1

    def arguments(self) -> dict[str, str | int]:
        """Return the conditions that are not None as query parameters, without the page."""
        conditions = asdict(self) | {"page": None}
        return {name: value for name, value in conditions.items() if value is not None}

    def rows(self, now: Snapshot) -> Ints:
        """Return the indices, in the snapshot's arrays, of all matches that meet the conditions, in
        reverse order of the schedule. The arrays have no withheld matches. Ignore the page.

        Raises:
            ValueError: if the bot is not in the cup.
        """
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
    """Read the matches at these indices of the snapshot's arrays, and return them in reverse order
    of the schedule, whatever the order of `rows`. Matches that have since become void are left out.

    Raises:
        StoreError: if the store cannot be read.
    """
    places = zip(now.blocks[now.arrays.block[rows]], now.arrays.number[rows], strict=True)
    return current_run().store.at([(int(block), int(number)) for block, number in places])[::-1]


def asked_filter(now: Snapshot) -> MatchFilter:
    """Return the filter in the query string. `result` has no effect without a `bot`. Answer with
    status 404 if the bot is not in the cup, and with 400 if another value is not valid, even that
    of an unused `result`."""
    bot = request.args.get("bot") or None
    faults, result = (
        _asked(name, "|".join(words), _("one of %(words)s", words=", ".join(words)))
        for name, words in _CHOICES.items()
    )
    if bot is not None:
        check_bot(now, bot)
    texts = (_asked(name, "[0-9]{1,9}", _("a number such as 1")) for name in _NUMBERS)
    round, block, page = (None if text is None else int(text) for text in texts)
    return MatchFilter(bot, round, block, faults, result if bot else None, page or 1)


def matches_page(now: Snapshot, asked: MatchFilter) -> str:
    """Return the page of the list that the filter asks for, with up to 50 matches. The filter's bot
    must be in the cup. Answer with status 404 if there is no such page, and with 503 if the store
    cannot be read."""
    rows, page = asked.rows(now), asked.page
    last = max(1, ceil(rows.size / _PAGE_SIZE))
    choices = {name: {word: _(word) for word in words} for name, words in _CHOICES.items()}
    choices["faults"][ANY] = _("of any kind")
    choices["bot"] = {bot: bot for bot in now.bots}  # never translated
    if page > last:
        pages = ngettext("%(num)d page", "%(num)d pages", last)
        why = _("There is no page %(page)d: these matches have %(pages)s.", page=page, pages=pages)
        abort(404, why)
    return render_template(
        "matches.html",
        now=now,
        asked=asked,
        choices=choices,
        rounds=int(now.arrays.round.max(initial=0)),
        matches=read_matches(now, rows[(page - 1) * _PAGE_SIZE : page * _PAGE_SIZE]),
        count=rows.size,
        last=last,
    )


def match_pieces(store: RunReader) -> Iterator[bytes]:
    """Yield the finished matches as JSON lines in UTF-8, in pieces of many lines. Unless the run is
    finished, the matches of incomplete blocks are left out. If the store cannot be read to the end,
    the last line is an object with the reason as `error`.

    Raises:
        games.OptionError, games.UnknownGame: during iteration, if a match cannot be started.
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
    """Answer with status 404 if no bot of the cup has this name."""
    if name not in now.bots:
        why = _(
            "There is no bot “%(bot)s” in this cup; the table lists all of them.", bot=name[:80]
        )
        abort(404, why)


def _asked(name: str, pattern: str, fix: str) -> str | None:
    text = request.args.get(name) or None
    if text is not None and not re.fullmatch(pattern, text):
        asked = f"{name}={text[:40]}"
        abort(400, _("%(asked)s is not known; write %(fix)s.", asked=asked, fix=fix))
    return text


def finished_match(run: LiveRun, match: str) -> MatchRecord:
    """Return the finished match with this id. Answer with status 404 if there is no such match or
    its cards have yet to be played in another seating, and with 503 if the store cannot be read."""
    record = run.find(match)
    if record is None:
        abort(404, _("There is no finished match “%(match)s” in this run.", match=match[:80]))
    if run.is_open(record.block):
        why = _(
            "Replays appear once the same cards have been played in every seating: block %(block)d"
            " is still being played.",
            block=record.block,
        )
        abort(404, why)
    return record
