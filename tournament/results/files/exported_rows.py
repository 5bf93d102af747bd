"""Reading a run from rows of seats, which `stich export --format jsonl` or other programs write."""

import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from tournament.config.cup import Bot, Cup
from tournament.formats import FORMATS, Format, Plan, Setup
from tournament.formats.format import Growth
from tournament.formats.round_robin import Gauntlet
from tournament.formats.stopping import Stop
from tournament.model import Run
from tournament.records import FAULT_KINDS, Count, MatchSummary, Name, Positive, Text
from tournament.results.files.match_lines import LineError, read_lines

# A block's number may be as large as every JSON reader can represent exactly. Points must be
# smaller, so that their sum over a million matches is exact in 64 bits.
_EXACT = 2**53
_MOST = 10**12
_Points = Annotated[int, Meta(ge=-_MOST, le=_MOST)]

_OF_THE_CUP = (
    *("cup", "game", "finished", "ranges", "max_difference", "format", "challenger", "top"),
    *("confidence", "stopped_after"),
)
_MOST_SEATS = 64
_MOST_BOTS = 2_000  # a limit, because every pair is compared


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One seat of one match. docs/statistics.md describes the fields."""

    block: Annotated[int, Meta(ge=-_EXACT, le=_EXACT)]
    seating: Count
    seat: Count
    bot: Name
    adjusted: _Points
    deals: Annotated[int, Meta(ge=1, le=1_000_000)]  # a thousand times those of any game here
    cup: Text | None = None
    game: Text | None = None
    match: Text | None = None
    round: Count | None = None
    stage: Text | None = None
    seatings: Positive | None = None
    score: _Points | None = None
    struck_out: bool | None = None
    timeout: Count | None = None
    unreachable: Count | None = None
    invalid: Count | None = None
    illegal: Count | None = None
    fallbacks: Count | None = None
    finished: bool | None = None
    ranges: Literal["final", "anytime", "adaptive"] | None = None
    max_difference: Annotated[int, Meta(ge=1, le=_MOST)] | None = None
    format: (
        Literal["round-robin", "swiss", "knockout", "gauntlet", "halving", "ladder", "duel", ""]
        | None
    ) = None
    challenger: Text | None = None
    top: Positive | None = None
    confidence: Annotated[float, Meta(gt=0, lt=1)] | None = None
    settled: bool | None = None
    stopped_after: Positive | None = None
    place: Positive | None = None


@dataclass(frozen=True, kw_only=True)
class _Unnamed(Format):
    """The format of rows that name no format."""

    type: ClassVar[str] = ""
    growth: ClassVar[Growth] = Growth("nothing may be added to rows")
    decides_places: ClassVar[bool] = True

    def plan(self, setup: Setup) -> Plan:
        raise NotImplementedError


class ExportedRows:
    """The results of a run, read from rows of seats, which may be in any order."""

    def __init__(self, lines: Iterable[bytes], name: str) -> None:
        """Read and check all rows, each a line of JSON. `name` is the name of the file in error
        messages, and of the cup if the rows name none.

        Raises:
            LineError: if there is no row, a row is bad, rows contradict each other, the challenger
                has no row, or there are more than 2,000 bots.
        """
        self._name = name
        self._places: dict[str, int | None] = {}
        self._tables: dict[int, tuple[tuple[str, ...], int]] = {}
        self._seats = 0
        rows = list(read_lines(lines, Row, name, "docs/statistics.md says what a row has."))
        if not rows:
            raise LineError(f"{name}: there is no row; write one JSON object a line.")
        _, self._first = rows[0]
        for number, row in rows:
            for problem in self._contradictions(row):
                raise self._error(number, problem)
        if len(self._places) > _MOST_BOTS:
            raise LineError(
                f"{name}: {len(self._places)} bots are more than the {_MOST_BOTS} that can be"
                " ranked together; rank fewer at a time."
            )
        if self._first.challenger not in (None, *self._places):
            raise self._error(
                rows[0][0],
                f"challenger: there is no bot {json.dumps(self._first.challenger)} in the rows;"
                " name one of theirs, or leave it out.",
            )
        self._settled = {row.bot for _, row in rows if row.settled}
        rows.sort(key=lambda numbered: (numbered[1].block, numbered[1].seating, numbered[1].seat))
        by_match = groupby(rows, lambda numbered: (numbered[1].block, numbered[1].seating))
        self._matches = [self._match(list(seats)) for _, seats in by_match]

    def run(self) -> Run:
        """Return the run that the rows describe. Values that the rows lack are the defaults. The
        game, and the type of the format, are "" if the rows lack them."""
        first = self._first
        kind = FORMATS.get(first.format or "", _Unnamed)
        format = Gauntlet(challenger=first.challenger or "") if kind is Gauntlet else kind()
        # In these formats places do not always follow from the rows: the rows of a final are
        # missing once a finalist is disqualified.
        decided = format.decides_places
        any_place = any(self._places.values())
        cup = Cup(
            name=first.cup or self._name,
            game=first.game or "",
            players=self._seats,
            bots=tuple(map(Bot, self._places)),
            format=format,
            stop=Stop() if first.top is None else Stop(first.top, first.confidence or 0.95),
        )
        return Run(
            cup=cup,
            finished=bool(first.finished),
            places={bot: place for bot, place in self._places.items() if decided and place},
            settled=tuple(self._settled),
            stopped_after=first.stopped_after,
            max_difference=first.max_difference,
            ranges="final" if first.ranges == "final" else "anytime",
            # In a ladder, if the rows give places at all.
            unplaced=frozenset(
                bot for bot, place in self._places.items() if any_place and not place
            ),
        )

    def summaries(self) -> list[MatchSummary]:
        """Return the matches, sorted by block and seating, without thinking times."""
        return self._matches

    def _error(self, number: int, text: str) -> LineError:
        return LineError(f"{self._name}:{number}: {text}")

    def _contradictions(self, row: Row) -> Iterator[str]:
        for field in _OF_THE_CUP:
            value, expected = getattr(row, field), getattr(self._first, field)
            if value != expected:
                yield (
                    f"{field}: is {json.dumps(value)}, but {json.dumps(expected)} in the rows"
                    " above; rank one run at a time."
                )
        if row.top is not None and row.confidence is None:
            yield "confidence: is missing; add that of [stop], as of top."
        place = self._places.setdefault(row.bot, row.place)
        if place != row.place:
            yield (
                f"place: {json.dumps(row.bot)} is in place {row.place} here and in {place} above;"
                " give a bot the same place in every row."
            )

    def _match(self, seats: Sequence[tuple[int, Row]]) -> MatchSummary:
        """Return the match that its rows describe. `seats` has (line number, row), sorted by seat.

        Raises:
            LineError: if a seat is missing or repeated, or rows contradict each other.
        """
        number, first = seats[0]
        rows = [row for _, row in seats]
        table = tuple(sorted({row.bot for row in rows}))
        if [row.seat for row in rows] != list(range(len(rows))) or len(rows) > _MOST_SEATS:
            raise self._error(
                number,
                f"seat: block {first.block}, seating {first.seating} must have one row for each"
                f" seat, numbered from 0 to at most {_MOST_SEATS - 1}; rank one run at a time.",
            )
        for line, row in seats:
            if row.deals != first.deals:
                raise self._error(line, "deals: must be the same for all seats of a match.")
        known, above = self._tables.setdefault(first.block, (table, number))
        if known != table:
            raise self._error(
                number,
                f"block: block {first.block} has other bots here than in line {above}; two runs"
                " cannot be mixed, so rank one at a time, or number the blocks anew.",
            )
        self._seats = self._seats or len(rows)
        if len(rows) != self._seats:
            raise self._error(
                number, f"seat: every match must have {self._seats} seats, as the first."
            )
        return MatchSummary(
            match=first.match or "",
            block=first.block,
            round=1 if first.round is None else first.round,
            stage=first.stage or "",
            number=first.seating,
            seatings=first.seatings or 1,
            seed="",
            table=table,
            seating=tuple(row.bot for row in rows),
            scores=tuple(row.adjusted if row.score is None else row.score for row in rows),
            adjusted=tuple(row.adjusted for row in rows),
            deals=first.deals,
            struck=tuple(row.seat for row in rows if row.struck_out),
            sides=None,
            faults=tuple(tuple(getattr(row, kind) or 0 for kind in FAULT_KINDS) for row in rows),
            times=tuple(array("f") for _ in rows),
            fallbacks=tuple(row.fallbacks or 0 for row in rows),
        )
