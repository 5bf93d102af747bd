"""A run for other programs: a row for each seat of each match in CSV, JSONL or Parquet, a line for
each match, or a row for each decision.

Rows of seats have the same columns (`COLUMNS`) in all their formats and stand in the same order: by
block, seating and seat.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, BinaryIO

import msgspec

from tournament.decisions import counted
from tournament.formats import game_seed
from tournament.records import FAULT_KINDS
from tournament.results.decision_rows import COLUMNS as DECISION_COLUMNS
from tournament.results.decision_rows import decision_rows
from tournament.results.match_lines import MatchLine, match_lines, shown_matches
from tournament.results.standings import format_of, kind_of_ranges, official_places
from tournament.store.reader import StoreReader

FORMATS = ("csv", "jsonl", "parquet", "matches", "decisions")

# Column -> (type, what it is). Types are those of Parquet and of JSON alike.
COLUMNS: Mapping[str, tuple[str, str]] = {
    "cup": ("string", "name of the cup"),
    "game": ("string", "game"),
    "match": ("string", "id of the match"),
    "block": ("int64", "number of the block in the schedule"),
    "round": ("int64", "round of the format"),
    "stage": ("string", "stage of the format, empty where it has none"),
    "seating": ("int64", "number of the seating in the block"),
    "seatings": ("int64", "how many seatings the block has"),
    "seed": ("string", "seed of the match's game"),
    "deals": ("int64", "deals of the match"),
    "seat": ("int64", "seat"),
    "bot": ("string", "bot at this seat"),
    "score": ("int64", "points as the game gave them"),
    "adjusted": ("int64", "points after the strike-out rule, as standings count them"),
    "side": ("int64", "0 the declarer's side, 1 the other; null if every seat plays for itself"),
    "struck_out": ("bool", "whether the bot was struck out of this match"),
    "timeout": ("int64", "faults of this kind"),
    "unreachable": ("int64", "faults of this kind"),
    "invalid": ("int64", "faults of this kind"),
    "illegal": ("int64", "faults of this kind"),
    "answers": ("int64", "requests that were answered completely"),
    "think_ms": ("double", "their total time in milliseconds"),
    "slowest_ms": ("double", "the longest of them; null if there were none"),
    "finished": ("bool", "whether the run had ended"),
    "ranges": ("string", "when ranges of ranks hold: final or anytime"),
    "max_difference": ("int64", "the most points by which seats can differ in a deal"),
    "format": ("string", "type of the format"),
    "challenger": ("string", "the challenger of a gauntlet; null in other formats"),
    "top": ("int64", "top of [stop]; null without it"),
    "confidence": ("double", "confidence of [stop]; null without it"),
    "settled": ("bool", "whether the cup ended because this bot and others of the top are settled"),
    "stopped_after": ("int64", "blocks after which [stop] ended the cup; null if it did not"),
    "place": ("int64", "place of the bot; null before the end of a knockout or halving"),
}

_CHUNK = 5_000

Row = dict[str, Any]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class ExportError(Exception):
    """The export cannot be written; the text says why, and the fix."""


def export(store: StoreReader, format: str, out: BinaryIO, *, text: bool = False) -> int:
    """Write a run to `out` in one of FORMATS; return the number of rows or matches. With `text`,
    decisions are JSONL.

    Rows of seats take two passes, one for the places, and a third if [stop] ended the cup.
    ExportError if the format is unknown, its library is not installed, or a match cannot be played
    again.
    """
    if format == "csv":
        return _csv(rows(store), out)
    if format == "jsonl":
        return _jsonl(rows(store), out)
    if format == "parquet":
        return _parquet(rows(store), COLUMNS, out)
    if format == "matches":
        return _jsonl(match_lines(store), out)
    if format != "decisions":
        raise ExportError(f"There is no format {format}; choose {', '.join(FORMATS)}.")
    shown = shown_matches(store, bool(store.facts().get("finished")))
    decisions = (row for record in shown for row in decision_rows(record))
    try:
        return _jsonl(decisions, out) if text else _parquet(decisions, DECISION_COLUMNS, out)
    except ValueError as error:
        raise ExportError(f"{error} `stich verify` tells more.") from None


def rows(store: StoreReader) -> Iterator[Row]:
    """The rows, lazily: a value for every column."""
    facts = store.facts()
    fresh = facts.get("config", {}).get("format", {}).get("cards") == "fresh"
    keys = {block.block: block.key for block in store.blocks()}
    finished, ranges = bool(facts.get("finished")), kind_of_ranges(facts)
    places = official_places(store)
    config = facts.get("config", {})
    challenger = config.get("format", {}).get("challenger")
    stop = config.get("stop", {})
    settled = facts.get("settled") or ()
    stopped_after = len({match.block for match in store.summaries()}) if settled else None
    for match in counted(store.summaries(), facts):
        if "seed" in facts:
            seed = game_seed(facts["seed"], keys[match.block], match.number if fresh else None)
        else:  # of a file of matches
            seed = store.match(match.match).seed
        for seat, bot in enumerate(match.seating):
            times = match.times[seat]
            faults = {str(k): n for k, n in zip(FAULT_KINDS, match.faults[seat], strict=True)}
            yield {
                "cup": facts.get("name", ""),
                "game": facts.get("game", ""),
                "match": match.match,
                "block": match.block,
                "round": match.round,
                "stage": match.stage,
                "seating": match.number,
                "seatings": match.seatings,
                "seed": seed,
                "deals": match.deals,
                "seat": seat,
                "bot": bot,
                "score": match.scores[seat],
                "adjusted": match.adjusted[seat],
                "side": None if match.sides is None else match.sides[seat],
                "struck_out": seat in match.struck,
                **faults,
                "answers": len(times),
                "think_ms": round(sum(times), 3),
                "slowest_ms": round(max(times), 3) if times else None,
                "finished": finished,
                "ranges": ranges,
                "max_difference": facts.get("max_difference"),
                "format": format_of(facts),
                "challenger": challenger,
                "top": stop.get("top"),
                "confidence": stop.get("confidence") if stop.get("top") else None,
                "settled": bot in settled,
                "stopped_after": stopped_after,
                "place": places.get(bot),
            }


def _csv(rows: Iterator[Row], out: BinaryIO) -> int:
    count = 0
    text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
    try:
        writer = csv.DictWriter(text, list(COLUMNS), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({name: _csv_value(value) for name, value in row.items()})
            count += 1
    finally:
        text.detach()
    return count


def _csv_value(value: Any) -> Any:
    """Booleans as JSON writes them, so that the formats agree; text that a spreadsheet would take
    for a formula after an apostrophe, which makes it text."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _jsonl(rows: Iterator[Row] | Iterator[MatchLine], out: BinaryIO) -> int:
    encode = msgspec.json.Encoder().encode
    count = 0
    for row in rows:
        out.write(encode(row) + b"\n")
        count += 1
    return count


def _parquet(rows: Iterator[Row], columns: Mapping[str, tuple[str, str]], out: BinaryIO) -> int:
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise ExportError(
            "Parquet needs pyarrow, which is not installed; `pip install 'stich[parquet]'` brings"
            " it. CSV and JSONL need nothing more."
        ) from None
    types = {"list": pyarrow.list_(pyarrow.string())}
    schema = pyarrow.schema(
        [
            pyarrow.field(
                name,
                types.get(kind) or pyarrow.type_for_alias(kind),
                metadata={"description": what},
            )
            for name, (kind, what) in columns.items()
        ]
    )
    count = 0
    with parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        while chunk := list(islice(rows, _CHUNK)):
            by_column = {name: [row[name] for row in chunk] for name in columns}
            writer.write_table(pyarrow.Table.from_pydict(by_column, schema=schema))
            count += len(chunk)
    return count
