"""A run read back from the rows of `stich export --format jsonl`.

Another program can write such rows too. `REQUIRED` names the fields that standings need; the
others of an export are optional.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from tournament.config import FORMATS
from tournament.records import FAULT_KINDS, MatchSummary
from tournament.results.standings import BY_FORMAT

REQUIRED = ("block", "seating", "seat", "bot", "adjusted", "deals")
"""The fields that every row must have. null counts as left out."""

# Numbers that are only compared may be as large as JSON can tell apart everywhere. Those that are
# added up are smaller, so that the sum over a million matches is exact in 64 bits.
_EXACT = 2**53
_MOST = 10**12
_COUNT = range(_MOST + 1)
_POINTS = range(-_MOST, _MOST + 1)
_Kind = range | type[str] | type[bool]
_FIELDS: Mapping[str, _Kind] = {
    "cup": str,
    "game": str,
    "match": str,
    "block": range(-_EXACT, _EXACT + 1),
    "round": range(_EXACT + 1),
    "stage": str,
    "seating": range(_EXACT + 1),
    "seatings": range(1, _EXACT + 1),
    "deals": range(1, 1_000_001),  # a thousand times those of any game here
    "seat": range(_EXACT + 1),
    "bot": str,
    "score": _POINTS,
    "adjusted": _POINTS,
    "side": range(_EXACT + 1),
    "struck_out": bool,
    **{str(kind): _COUNT for kind in FAULT_KINDS},
    "finished": bool,
    "ranges": str,
    "max_difference": range(1, _MOST + 1),
    "format": str,
    "challenger": str,
    "top": range(1, _EXACT + 1),
    "settled": bool,
    "stopped_after": range(1, _EXACT + 1),
    "place": range(1, _EXACT + 1),
}
"""Field -> its type; of a whole number the range of its values."""

_SAME_EVERYWHERE = (
    "cup",
    "game",
    "finished",
    "ranges",
    "max_difference",
    "format",
    "challenger",
    "top",
    "confidence",
    "stopped_after",
)
_CHOICES = {"ranges": ("final", "anytime", "adaptive"), "format": (*FORMATS, "duel", "")}
_MOST_SEATS = 64
_MOST_BOTS = 2_000  # every pair is compared

Row = dict[str, Any]


class RowError(Exception):
    """A row that cannot be used; the text says file, line, field, and the fix."""


class ExportedRows:
    """The rows of an export, in any order, as the results of a run."""

    def __init__(self, lines: Iterable[str], name: str) -> None:
        """Read all rows; `name` is what errors call the file. RowError for the first bad row."""
        self._name = name
        self._rows: dict[tuple[int, int, int], tuple[int, Row]] = {}
        self._facts: dict[str, Any] = {}
        self._places: dict[str, int | None] = {}
        for number, line in enumerate(lines, 1):
            if line.strip():
                self._add(number, self._row(number, line))
        if not self._rows:
            raise RowError(f"{name}: there is no row; write one JSON object a line.")
        if len(self._places) > _MOST_BOTS:
            raise RowError(
                f"{name}: {len(self._places)} bots are more than the {_MOST_BOTS} that can be"
                " ranked together; rank fewer at a time."
            )
        challenger = self._facts["challenger"]
        if challenger is not None and challenger not in self._places:
            first = min(number for number, _ in self._rows.values())
            raise self._error(
                first,
                f"challenger: there is no bot {json.dumps(challenger)} in the rows; name one of"
                " theirs, or leave it out.",
            )
        self._matches = self._summaries()

    def facts(self) -> dict[str, Any]:
        """What the rows say of the run."""
        rows = [row for _, row in self._rows.values()]
        # In other formats places follow from the rows; in these not always: the rows of a final
        # are missing once a finalist is disqualified.
        decided = self._facts.get("format") in (None, "", *BY_FORMAT)
        return {
            "name": self._facts.get("cup") or self._name,
            "game": self._facts.get("game") or "",
            "finished": bool(self._facts.get("finished")),
            "config": {
                "format": {
                    "type": self._facts.get("format") or "",
                    "challenger": self._facts.get("challenger"),
                },
                "stop": {
                    "top": self._facts.get("top"),
                    "confidence": self._facts.get("confidence"),
                },
            },
            "settled": {row["bot"] for row in rows if row.get("settled")},
            "stopped_after": self._facts.get("stopped_after"),
            "ranges": self._facts.get("ranges") or "anytime",
            "max_difference": self._facts.get("max_difference"),
            "places": {bot: place for bot, place in self._places.items() if decided and place},
        }

    def summaries(self, round: int | None = None) -> Iterable[MatchSummary]:
        """The matches; of one round if it is given."""
        return [match for match in self._matches if round is None or match.round == round]

    def _error(self, number: int, text: str) -> RowError:
        return RowError(f"{self._name}:{number}: {text}")

    def _row(self, number: int, line: str) -> Row:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise self._error(number, "this line is not JSON; write one object a line.") from None
        if not isinstance(row, dict):
            raise self._error(number, "this line is not a JSON object; write one object a line.")
        row = {field: value for field, value in row.items() if value is not None}
        for field in REQUIRED:
            if field not in row:
                raise self._error(number, f"{field}: is missing; add it to every row.")
        if row["bot"] == "":
            raise self._error(number, "bot: must be the name of the bot, not empty.")
        for field, kind in _FIELDS.items():
            if field in row and not _is_valid(row[field], kind):
                raise self._error(number, f"{field}: {_wrong(row[field], kind)}")
        if not _is_unicode(line):  # in what is not read
            raise self._error(number, "this line is not UTF-8; save the file as UTF-8.")
        return row

    def _add(self, number: int, row: Row) -> None:
        for field in _SAME_EVERYWHERE:
            value = row.get(field)
            if self._rows and self._facts[field] != value:
                raise self._error(
                    number,
                    f"{field}: is {json.dumps(value)}, but {json.dumps(self._facts[field])} in the"
                    " rows above; rank one run at a time.",
                )
            self._facts[field] = value
        for field, choices in _CHOICES.items():
            if self._facts[field] not in (None, *choices):
                listed = ", ".join(filter(None, choices))
                raise self._error(number, f"{field}: must be one of {listed}, or left out.")
        confidence = self._facts["confidence"]
        needed = confidence is not None or self._facts["top"] is not None
        if needed and not (isinstance(confidence, float) and 0 < confidence < 1):
            raise self._error(number, "confidence: must be a number between 0 and 1, as of [stop].")
        key = row["block"], row["seating"], row["seat"]
        if key in self._rows:
            raise self._error(
                number,
                f"seat: block {key[0]}, seating {key[1]}, seat {key[2]} is in line"
                f" {self._rows[key][0]} too; remove one, or rank one run at a time.",
            )
        self._rows[key] = number, row
        place = self._places.setdefault(row["bot"], row.get("place"))
        if place != row.get("place"):
            raise self._error(
                number,
                f"place: {json.dumps(row['bot'])} is in place {row.get('place')} here and in"
                f" {place} above; give a bot the same place in every row.",
            )

    def _summaries(self) -> list[MatchSummary]:
        ordered = [self._rows[key] for key in sorted(self._rows)]
        found: list[MatchSummary] = []
        lines: list[int] = []
        for _, group in groupby(ordered, lambda entry: (entry[1]["block"], entry[1]["seating"])):
            seats = list(group)
            found.append(self._summary(seats))
            lines.append(seats[0][0])
        tables: dict[int, tuple[tuple[str, ...], int]] = {}
        for match, line in zip(found, lines, strict=True):
            table = match.table
            known, first = tables.setdefault(match.block, (table, line))
            if known != table:
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
        if [row["seat"] for row in rows] != list(range(count)) or count > _MOST_SEATS:
            raise self._error(
                number,
                f"seat: block {first['block']}, seating {first['seating']} must have a row for"
                f" each seat, numbered from 0 to at most {_MOST_SEATS - 1}.",
            )
        for line, row in seats:
            if row["deals"] != first["deals"]:
                raise self._error(line, "deals: must be the same for all seats of a match.")
        # In a match of several deals sides change, and everybody is compared.
        sides: tuple[int, ...] = tuple(row["side"] for row in rows if "side" in row)
        alone = len(sides) < count or first["deals"] > 1
        seating = tuple(row["bot"] for row in rows)
        return MatchSummary(
            match=first.get("match", ""),
            block=first["block"],
            round=first.get("round", 1),
            stage=first.get("stage", ""),
            number=first["seating"],
            seatings=first.get("seatings", 1),
            table=tuple(sorted(set(seating))),
            seating=seating,
            scores=tuple(row["score" if "score" in row else "adjusted"] for row in rows),
            adjusted=tuple(row["adjusted"] for row in rows),
            deals=first["deals"],
            struck=tuple(seat for seat, row in enumerate(rows) if row.get("struck_out")),
            sides=None if alone else sides,
            faults=tuple(tuple(row.get(str(kind), 0) for kind in FAULT_KINDS) for row in rows),
            times=tuple(array("f") for _ in rows),
        )


def _is_valid(value: Any, kind: _Kind) -> bool:
    if isinstance(kind, range):
        return isinstance(value, int) and not isinstance(value, bool) and value in kind
    if isinstance(value, str):
        return kind is str and _is_unicode(value)
    return kind is bool and isinstance(value, bool)


def _wrong(value: Any, kind: _Kind) -> str:
    """What is wrong with a value that is not valid, and the fix."""
    shown = json.dumps(value)[:40]
    if isinstance(kind, range):
        if isinstance(value, bool) or not isinstance(value, int):
            return f"must be a whole number, not {shown}."
        if value < kind.start:
            return f"must be {kind.start} or more, not {shown}."
        return f"must be {kind.stop - 1} or less, not {shown}."
    if kind is bool:
        return f"must be true or false, not {shown}."
    if not isinstance(value, str):
        return f"must be a string, not {shown}."
    return f"{shown} cannot be written as UTF-8; write whole characters, and save as UTF-8."


def _is_unicode(text: str) -> bool:
    """Whether text has neither half of a surrogate pair nor, as these, bytes that are not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
