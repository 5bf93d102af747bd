"""A run read back from the rows of `stich export --format jsonl`, which others can write too."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable
from itertools import groupby
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from tournament.records import FAULT_KINDS, MatchSummary
from tournament.results.lines import LineError, read_lines
from tournament.results.standings import BY_FORMAT

# Numbers that are only compared may be as large as JSON can tell apart everywhere. Those that are
# added up are smaller, so that the sum over a million matches is exact in 64 bits.
_EXACT = 2**53
_MOST = 10**12
_Natural = Annotated[int, Meta(ge=0, le=_EXACT)]
_Positive = Annotated[int, Meta(ge=1, le=_EXACT)]
_Points = Annotated[int, Meta(ge=-_MOST, le=_MOST)]
_Faults = Annotated[int, Meta(ge=0, le=_MOST)]

_OF_THE_CUP = (
    *("cup", "game", "finished", "ranges", "max_difference", "format", "challenger", "top"),
    *("confidence", "stopped_after"),
)
_MOST_SEATS = 64
_MOST_BOTS = 2_000  # every pair is compared


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """The row of a seat. The fields without a default are those that standings need."""

    block: Annotated[int, Meta(ge=-_EXACT, le=_EXACT)]
    seating: _Natural
    seat: _Natural
    bot: Annotated[str, Meta(min_length=1)]
    adjusted: _Points
    deals: Annotated[int, Meta(ge=1, le=1_000_000)]  # a thousand times those of any game here
    cup: str | None = None
    game: str | None = None
    match: str | None = None
    round: _Natural | None = None
    stage: str | None = None
    seatings: _Positive | None = None
    score: _Points | None = None
    struck_out: bool | None = None
    timeout: _Faults | None = None
    unreachable: _Faults | None = None
    invalid: _Faults | None = None
    illegal: _Faults | None = None
    finished: bool | None = None
    ranges: Literal["final", "anytime", "adaptive"] | None = None
    max_difference: Annotated[int, Meta(ge=1, le=_MOST)] | None = None
    format: (
        Literal["round-robin", "swiss", "knockout", "gauntlet", "halving", "duel", ""] | None
    ) = None
    challenger: str | None = None
    top: _Positive | None = None
    confidence: Annotated[float, Meta(gt=0, lt=1)] | None = None
    settled: bool | None = None
    stopped_after: _Positive | None = None
    place: _Positive | None = None


class ExportedRows:
    """The rows of an export, in any order, as the results of a run."""

    def __init__(self, lines: Iterable[bytes], name: str) -> None:
        """Read all rows; `name` is what errors call the file. LineError for the first bad row."""
        self._name = name
        self._rows: dict[tuple[int, int, int], tuple[int, Row]] = {}
        self._places: dict[str, int | None] = {}
        hint = "docs/statistics.md says what a row has."
        for number, row in read_lines(lines, Row, name, hint):
            self._add(number, row)
        if not self._rows:
            raise LineError(f"{name}: there is no row; write one JSON object a line.")
        if len(self._places) > _MOST_BOTS:
            raise LineError(
                f"{name}: {len(self._places)} bots are more than the {_MOST_BOTS} that can be"
                " ranked together; rank fewer at a time."
            )
        number, self._first = next(iter(self._rows.values()))
        if self._first.challenger not in (None, *self._places):
            raise self._error(
                number,
                f"challenger: there is no bot {json.dumps(self._first.challenger)} in the rows;"
                " name one of theirs, or leave it out.",
            )
        self._matches = self._summaries()

    def facts(self) -> dict[str, Any]:
        """What the rows say of the run."""
        first = self._first
        # In other formats places follow from the rows; in these not always: the rows of a final
        # are missing once a finalist is disqualified.
        decided = first.format in (None, "", *BY_FORMAT)
        return {
            "name": first.cup or self._name,
            "game": first.game or "",
            "finished": bool(first.finished),
            "config": {
                "format": {"type": first.format or "", "challenger": first.challenger},
                "stop": {"top": first.top, "confidence": first.confidence},
            },
            "settled": {row.bot for _, row in self._rows.values() if row.settled},
            "stopped_after": first.stopped_after,
            "ranges": first.ranges or "anytime",
            "max_difference": first.max_difference,
            "places": {bot: place for bot, place in self._places.items() if decided and place},
        }

    def summaries(self, round: int | None = None) -> Iterable[MatchSummary]:
        """The matches; of one round if it is given."""
        return [match for match in self._matches if round is None or match.round == round]

    def _error(self, number: int, text: str) -> LineError:
        return LineError(f"{self._name}:{number}: {text}")

    def _add(self, number: int, row: Row) -> None:
        _, first = next(iter(self._rows.values()), (number, row))
        for field in _OF_THE_CUP:
            value, expected = getattr(row, field), getattr(first, field)
            if value != expected:
                raise self._error(
                    number,
                    f"{field}: is {json.dumps(value)}, but {json.dumps(expected)} in the rows"
                    " above; rank one run at a time.",
                )
        if row.top is not None and row.confidence is None:
            raise self._error(number, "confidence: is missing; add that of [stop], as of top.")
        key = row.block, row.seating, row.seat
        if key in self._rows:
            raise self._error(
                number,
                f"seat: block {key[0]}, seating {key[1]}, seat {key[2]} is in line"
                f" {self._rows[key][0]} too; remove one, or rank one run at a time.",
            )
        self._rows[key] = number, row
        place = self._places.setdefault(row.bot, row.place)
        if place != row.place:
            raise self._error(
                number,
                f"place: {json.dumps(row.bot)} is in place {row.place} here and in {place} above;"
                " give a bot the same place in every row.",
            )

    def _summaries(self) -> list[MatchSummary]:
        ordered = [self._rows[key] for key in sorted(self._rows)]
        found: list[MatchSummary] = []
        tables: dict[int, tuple[tuple[str, ...], int]] = {}
        for _, group in groupby(ordered, lambda entry: (entry[1].block, entry[1].seating)):
            seats = list(group)
            line, _ = seats[0]
            match = self._summary(seats)
            found.append(match)
            known, first = tables.setdefault(match.block, (match.table, line))
            if known != match.table:
                raise self._error(
                    line,
                    f"block: block {match.block} has other bots here than in line {first}; two runs"
                    " cannot be mixed, so rank one at a time, or number the blocks anew.",
                )
            if len(match.seating) != len(found[0].seating):
                raise self._error(
                    line,
                    f"seat: every match must have {len(found[0].seating)} seats, as the first.",
                )
        return found

    def _summary(self, seats: list[tuple[int, Row]]) -> MatchSummary:
        number, first = seats[0]
        rows = [row for _, row in seats]
        count = len(rows)
        if [row.seat for row in rows] != list(range(count)) or count > _MOST_SEATS:
            raise self._error(
                number,
                f"seat: block {first.block}, seating {first.seating} must have a row for each seat,"
                f" numbered from 0 to at most {_MOST_SEATS - 1}.",
            )
        for line, row in seats:
            if row.deals != first.deals:
                raise self._error(line, "deals: must be the same for all seats of a match.")
        seating = tuple(row.bot for row in rows)
        return MatchSummary(
            match=first.match or "",
            block=first.block,
            round=1 if first.round is None else first.round,
            stage=first.stage or "",
            number=first.seating,
            seatings=first.seatings or 1,
            seed="",
            table=tuple(sorted(set(seating))),
            seating=seating,
            scores=tuple(row.adjusted if row.score is None else row.score for row in rows),
            adjusted=tuple(row.adjusted for row in rows),
            deals=first.deals,
            struck=tuple(seat for seat, row in enumerate(rows) if row.struck_out),
            sides=None,
            faults=tuple(tuple(getattr(row, kind) or 0 for kind in FAULT_KINDS) for row in rows),
            times=tuple(array("f") for _ in rows),
        )
