"""Exports of a run for other programs: rows of seats, lines of matches, or rows of decisions."""

import codecs
import csv
import io
from collections.abc import Iterator
from itertools import islice
from types import NoneType
from typing import Any, BinaryIO, get_args, get_type_hints

import msgspec

import games
from games import IllegalMove
from learning.encoding import Encoding, action_of
from tournament.errors import ReplayError, StichError
from tournament.records import FAULT_KINDS, MatchRecord
from tournament.results.files.exported_rows import Row
from tournament.results.files.match_lines import match_lines, shown_matches
from tournament.results.standings import Standings, standings
from tournament.store.run_reader import RunReader

FORMATS = ("csv", "jsonl", "parquet", "matches", "decisions")

_CHUNK = 5_000
_to_json = msgspec.json.Encoder().encode

_OF_MATCH = ("match", "block", "round", "stage", "seatings", "seed", "deals")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class SeatRow(Row, frozen=True, kw_only=True):
    """One seat of one match: the columns of `Row`, and columns that standings do not read."""

    seed: str
    side: int | None  # 0 for the declarer's side, 1 for the other, None if a match has no sides
    answers: int  # the number of requests that were answered completely
    think_ms: float  # the total time of these requests
    slowest_ms: float | None


class DecisionRow(msgspec.Struct, frozen=True):
    """One decision of a bot, or one forced move."""

    match: str
    block: int
    seat: int
    bot: str
    index: int  # of the move in the match
    view: str  # of the seat, as JSON
    moves: list[str]  # legal ones, in canonical order
    move: str
    forced: bool  # whether the bot was not asked, because no other move was legal
    ms: float | None  # None if the bot was not asked
    fault: str | None  # the kind of fault for which the default move was played
    info: str | None  # the numbers that the bot gave beside the move, as JSON
    deal_points: int  # of the seat in this deal, before the strike-out rule
    match_points: int  # in the whole match, likewise
    words: list[int]  # with `numbers`, the view as encoded by `learning.encoding`
    numbers: list[int]
    move_words: list[int]  # the legal moves, as encoded by `learning.encoding`
    action: int | None  # as returned by `learning.encoding.action_of`


class ExportError(StichError):
    """An export cannot be written. The message has the reason and the fix."""


def export(store: RunReader, format: str, out: BinaryIO, *, text: bool = False) -> int:
    """Write a run to `out` in one of FORMATS. Return the number of rows or matches written.

    With `text`, decisions are written as JSONL, and otherwise as Parquet. Unfinished blocks are
    left out of matches and decisions until the run is finished. In the other formats, the rows are
    those that `rows` yields. While the run is being played, `store` must be a snapshot.

    Raises:
        ExportError: if Parquet is to be written and pyarrow is not installed.
        ReplayError: if decisions are written and a move of a match is not legal, or its deal has no
            result.
        games.OptionError, games.UnknownGame: if matches or decisions are written and a match cannot
            be started.
        StoreError: if the store cannot be read.
        OSError: if `out` cannot be written.
    """
    if format == "csv":
        return _csv(rows(store), out)
    if format == "jsonl":
        return _jsonl(rows(store), out)
    if format == "parquet":
        return _parquet(rows(store), SeatRow, out)
    if format == "matches":
        return _jsonl(match_lines(store), out)
    shown = shown_matches(store, store.run().finished)
    decisions = (row for record in shown for row in decision_rows(record))
    return _jsonl(decisions, out) if text else _parquet(decisions, DecisionRow, out)


def rows(store: RunReader) -> Iterator[SeatRow]:
    """Yield a row for each seat of each finished match, sorted by block, seating and seat.

    Tables of disqualified bots are left out. The matches are read several times during iteration,
    so while the run is being played, `store` must be a snapshot.

    Raises:
        StoreError: during iteration, if the store cannot be read.
    """
    run = store.run()
    cup, format, stop = run.cup, run.cup.format, run.cup.stop
    table = standings(store)
    of_cup: dict[str, Any] = {
        "cup": cup.name,
        "game": cup.game,
        "finished": run.finished,
        "ranges": run.ranges,
        "max_difference": run.max_difference,
        "format": format.type,
        "challenger": getattr(format, "challenger", None),
        "top": stop.top,
        "confidence": stop.confidence if stop.top else None,
        "stopped_after": table.stop and table.stop.blocks,
    }
    places = {line.bot: line.place for line in table.standings}
    out = run.disqualified
    for match in store.summaries():
        if not out.isdisjoint(match.table):
            continue
        of_match = {name: getattr(match, name) for name in _OF_MATCH}
        for seat, bot in enumerate(match.seating):
            times = match.times[seat]
            faults: Any = zip(map(str, FAULT_KINDS), match.faults[seat], strict=True)
            yield SeatRow(
                **of_cup,
                **of_match,
                **dict(faults),
                seating=match.number,
                seat=seat,
                bot=bot,
                score=match.scores[seat],
                adjusted=match.adjusted[seat],
                side=None if match.sides is None else match.sides[seat],
                struck_out=seat in match.struck,
                fallbacks=match.fallbacks[seat] if match.fallbacks else None,
                answers=len(times),
                think_ms=round(sum(times), 3),
                slowest_ms=round(max(times), 3) if times else None,
                settled=bot in run.settled,
                place=places.get(bot),
            )


def decision_rows(record: MatchRecord) -> Iterator[DecisionRow]:
    """Yield a row for each move of a match, in order of play. Leave out the default moves of a seat
    after it has been struck out.

    Raises:
        ReplayError: if a move is not legal, or its deal has no result. The rows of the moves before
            it have then been yielded.
        games.OptionError, games.UnknownGame: if the match cannot be started.
    """
    forced = frozenset(record.forced)
    times = [iter(of_seat) for of_seat in record.times]
    faults = {fault.move: str(fault.kind) for fault in record.faults}
    state = games.get(record.game).start(record.players, record.seed, record.options)
    encoding = Encoding(record.game, record.players)
    for index, move in enumerate(record.moves):
        before, seat = state, state.turn
        try:
            state = before.advance(move)
        except IllegalMove as error:
            raise ReplayError(record.match, index, move, error.detail) from None
        is_forced = index in forced
        ms = None if seat is None or is_forced else next(times[seat], None)
        if seat is None or (ms is None and not is_forced):
            continue
        try:
            deal_points = int(record.results[len(before.results)]["scores"][seat])
        except (LookupError, TypeError, ValueError):
            raise ReplayError(record.match, index, move, "Its deal has no result.") from None
        info = record.info.get(index, {})
        numbers = {key: value for key, value in info.items() if not isinstance(value, str)}
        view, moves = before.view(seat), before.moves()
        encoded = encoding.encode(view)
        yield DecisionRow(
            match=record.match,
            block=record.block,
            seat=seat,
            bot=record.seating[seat],
            index=index,
            view=_to_json(view.to_dict()).decode(),
            moves=moves.texts(),
            move=move,
            forced=is_forced,
            ms=ms if ms is None else round(ms, 3),
            fault=faults.get(index),
            info=_to_json(numbers).decode() if numbers else None,
            deal_points=deal_points,
            match_points=record.scores[seat],
            words=encoded.words,
            numbers=encoded.numbers,
            move_words=encoding.encode_moves(moves),
            action=action_of(before, move),
        )


def standings_csv(table: Standings) -> str:
    """Return the standings as CSV with a header, or "" if there are no bots. The columns are the
    fields of each bot in `Standings.to_dict`, but nested fields, such as `rank`, become several
    columns. An apostrophe precedes text that a spreadsheet would read as a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for number, line in enumerate(table.to_dict()["standings"]):
        line["first_rank"], line["last_rank"] = line.pop("rank")
        faults, times = line.pop("faults"), line.pop("move_ms")
        flat = {**line, **faults, **{f"{name}_ms": value for name, value in times.items()}}
        if not number:
            writer.writerow(flat)
        writer.writerow(map(_csv_value, flat.values()))
    return out.getvalue()


def _csv(rows: Iterator[SeatRow], out: BinaryIO) -> int:
    count = 0
    writer = csv.writer(codecs.getwriter("utf-8")(out), lineterminator="\n")
    writer.writerow(SeatRow.__struct_fields__)
    for row in rows:
        writer.writerow(map(_csv_value, msgspec.structs.astuple(row)))
        count += 1
    return count


def _csv_value(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    # The apostrophe keeps a spreadsheet from reading text as a formula.
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _jsonl(rows: Iterator[msgspec.Struct], out: BinaryIO) -> int:
    count = 0
    for row in rows:
        out.write(_to_json(row) + b"\n")
        count += 1
    return count


def _parquet(rows: Iterator[msgspec.Struct], kind: type[msgspec.Struct], out: BinaryIO) -> int:
    try:
        from pyarrow import Table, parquet
    except ModuleNotFoundError:
        raise ExportError(
            "Parquet needs pyarrow, which is not installed; `pip install 'stich[parquet]'` brings"
            " it. CSV and JSONL need nothing more."
        ) from None
    schema = arrow_schema(kind)
    count = 0
    with parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        while chunk := list(islice(rows, _CHUNK)):
            by_column = {name: [getattr(row, name) for row in chunk] for name in schema.names}
            writer.write_table(Table.from_pydict(by_column, schema=schema))
            count += len(chunk)
    return count


def arrow_schema(kind: type[msgspec.Struct]) -> Any:
    """Return the pyarrow schema for rows of the type `kind`. All fields become strings except
    numbers, Booleans, lists of text, and lists of whole numbers.

    Raises:
        ModuleNotFoundError: if pyarrow is not installed.
    """
    import pyarrow

    types = {
        int: pyarrow.int64(),
        float: pyarrow.float64(),
        bool: pyarrow.bool_(),
        list[str]: pyarrow.list_(pyarrow.string()),
        list[int]: pyarrow.list_(pyarrow.int64()),
    }
    fields = []
    for name, hint in get_type_hints(kind).items():  # int, or int | None
        inner = get_args(hint)[0] if NoneType in get_args(hint) else hint
        fields.append((name, types.get(inner, pyarrow.string())))
    return pyarrow.schema(fields)
