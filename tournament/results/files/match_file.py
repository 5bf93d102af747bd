"""Reading a run from a file of matches into memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from datetime import datetime, timedelta
from typing import Any
from weakref import finalize

import msgspec
import sqlalchemy as sa

import games
from games import OptionError
from tournament.config.cup import Bot, Clock, Cup
from tournament.formats import FORMATS, format_of
from tournament.formats.ladder import Ladder
from tournament.formats.stopping import Stop
from tournament.model import Identity, Run, kind_of_ranges
from tournament.records import Answer, FallbackRecord, FaultRecord, MatchRecord, Number
from tournament.results.files.match_lines import LineError, MatchLine, read_lines, seats_of
from tournament.store import rows
from tournament.store.chain import Chain
from tournament.store.engine import in_memory
from tournament.store.run_reader import PLAYED, RunReader
from tournament.store.tables import blocks, metadata

_HINT = "`stich export DIR --format matches` writes such lines; docs/match-format.md says all."
_AT_ONCE = 200  # matches that are written at once


class MatchFile(RunReader):
    """A file of matches, read into a database in memory, which need not be closed. Every block
    counts as complete. A hundred thousand matches of one deal take about 200 MB."""

    def __init__(self, lines: Iterable[bytes], name: str, *, any_moves: bool = False) -> None:
        """Read and check all lines. `name` is the name of the file in error messages. With
        `any_moves`, illegal moves are accepted, but times, faults and fallbacks from the first
        illegal move of a match on are dropped.

        Raises:
            LineError: if there is no line, a line is bad, or lines contradict each other.
        """
        super().__init__(in_memory(), name, None)
        finalize(self, self._engine.dispose)
        first: MatchLine | None = None
        about: dict[str, tuple[Identity, ...]] = {}
        tables: dict[int, list[str]] = {}
        seen: set[str | tuple[int, int]] = set()
        records: list[MatchRecord] = []
        with self._engine.begin() as connection:
            metadata.create_all(connection)
            chain = Chain(connection)
            for number, line in read_lines(lines, MatchLine, name, _HINT):
                first = first or line
                table = tables.setdefault(line.block, sorted(set(line.bots)))
                try:
                    for problem in _problems(line, first, table, seen):
                        raise LineError(problem)
                    records.append(_record(line, any_moves))
                except LineError as error:
                    raise LineError(f"{name}:{number}: {error}") from None
                seen |= {line.match, (line.block, line.seating)}
                if len(records) == _AT_ONCE:
                    rows.insert_matches(chain, records)
                    records.clear()
                for bot, stated in zip(line.bots, line.about or [None] * line.players, strict=True):
                    identity = stated and Identity(stated.name, stated.version, stated.author)
                    about.setdefault(bot, (identity,) if identity else ())
            if records:
                rows.insert_matches(chain, records)
            connection.execute(sa.update(blocks).values(seatings=PLAYED))
        if first is None:
            raise LineError(f"{name}: there is no match; {_HINT}")
        self._run = _run(first, about, self.count())

    def run(self) -> Run:
        """Return the run that the first line describes, with the bots of all lines."""
        return self._run


def _problems(
    line: MatchLine, first: MatchLine, table: list[str], seen: Set[str | tuple[int, int]]
) -> Iterator[str]:
    """Yield a sentence for each problem with a line. The caller must stop at the first problem,
    since later checks rely on earlier ones.

    `table` has the sorted bots of the block's first match. `seen` has, for each line above, the id
    of the match and the pair (block, seating). Seeds are not compared, because a match that
    replaces a void match has different cards even if the block's matches share their cards.
    """
    for field in ("cup", "game", "players", "options"):
        if getattr(line, field) != getattr(first, field):
            yield f"{field}: is not that of the first line; keep one run in a file."
    if line.game not in games.GAMES:
        yield f"game: there is no {line.game!r}; there are {', '.join(games.GAMES)}."
    if line.cup.format.type not in FORMATS:
        yield f"cup: there is no format {line.cup.format.type!r}; there are {', '.join(FORMATS)}."
    if line.match in seen or (line.block, line.seating) in seen:
        yield (
            f"match: {line.match}, or seating {line.seating} of block {line.block}, is in a line"
            " above too; remove one."
        )
    moves, players = len(line.moves), line.players
    lengths = dict.fromkeys(("bots", "scores", "adjusted"), players)
    for field, length in {**lengths, "about": players * bool(line.about), "ms": moves}.items():
        if len(getattr(line, field)) != length:
            yield f"{field}: must have {length} entries."
    if sorted(set(line.bots)) != table:
        yield f"bots: are not those of block {line.block} above; use the same."
    if not line.results or not all(_is_result(result, line) for result in line.results):
        yield "results: must be those of the deals, at least one, as in a state of the game."
    if any(seat >= players for seat in line.struck_out):
        yield f"struck_out: must be seats from 0 to {players - 1}."
    if any(index >= moves or line.ms[index] is not None for index in line.forced):
        yield "forced: must be indexes of moves whose ms is null."
    yield from _time_problems(line)
    yield from _index_problems(line)


def _time_problems(line: MatchLine) -> Iterator[str]:
    made = (("cup", decision.at) for decision in line.cup.decisions)
    for field, at in (("started", line.started), *made):
        try:
            is_in_utc = not at or datetime.fromisoformat(at).utcoffset() == timedelta()
        except ValueError:
            is_in_utc = False
        if not is_in_utc:
            yield f"{field}: {at!r} is not a time in UTC, such as 2026-12-20T18:00:00Z."


def _is_result(result: dict[str, Any], line: MatchLine) -> bool:
    """Return whether the result of a deal has all that is read later: the score of each seat and,
    in a game with sides, who was the declarer."""
    try:
        scores = msgspec.convert(result.get("scores"), list[Number])
        games.get(line.game).sides(result, line.players)
    except (msgspec.ValidationError, LookupError):
        return False
    return len(scores) == line.players


def _index_problems(line: MatchLine) -> Iterator[str]:
    moves = len(line.moves)
    fallback_moves = (fallback.move for fallback in line.fallbacks)
    by_field = {"info": map(int, line.info), "fallbacks": fallback_moves}
    for field, indexes in by_field.items():
        if max(indexes, default=-1) >= moves:
            yield f"{field}: must be by the index of a move."
    fault_moves = [fault.move for fault in line.faults]
    if len(set(fault_moves)) < len(fault_moves):
        yield "faults: two are at the same move; remove one."
    for index in fault_moves:
        if index >= moves or line.ms[index] is None:
            yield f"faults: there is no time in ms for move {index}; add it."


def _record(line: MatchLine, any_moves: bool) -> MatchRecord:
    """Return the match of a line in which `_problems` has found no problem. What the line does not
    have, such as outputs, is empty or 0.

    Raises:
        LineError: if the match cannot be started, or a move is illegal and `any_moves` is False.
    """
    try:
        seats, illegal = seats_of(line)
    except OptionError as error:
        raise LineError(f"options: {error} {_HINT}") from None
    if illegal is not None and not any_moves:
        index = len(seats)
        raise LineError(
            f"moves: move {index} ({line.moves[index]}) of match {line.match} is not legal"
            f" ({illegal.reason}): {illegal.detail} `stich verify` checks the whole file."
        )
    times: list[list[float]] = [[] for _ in range(line.players)]
    by_move = {fault.move: fault for fault in line.faults}
    faults = []
    for index, (seat, ms) in enumerate(zip(seats, line.ms, strict=False)):
        if ms is None:
            continue
        times[seat].append(ms)
        if fault := by_move.get(index):
            record = FaultRecord(
                seat=seat,
                turn=len(times[seat]),
                move=index,
                kind=fault.kind,
                detail=fault.detail,
                url="",
                request="",
                answer=Answer(),
                played=line.moves[index],
                started=line.started,
                elapsed_ms=ms,
                deadline_ms=0.0,
                move_ms=line.cup.clock.move_ms,
                bank_ms=0.0,
            )
            faults.append(record)
    fields: dict[str, Any] = {
        **msgspec.structs.asdict(line),
        "key": str(line.block),
        "number": line.seating,
        "seatings": 1,
        "table": sorted(set(line.bots)),
        "seating": line.bots,
        "deals": len(line.results),
        "struck": line.struck_out,
        "faults": tuple(faults),
        "fallbacks": [
            FallbackRecord(seats[fallback.move], fallback.move, fallback.why)
            for fallback in line.fallbacks
            if fallback.move < len(seats)
        ],
        "times": times,
        "outputs": [""] * line.players,
        "wall_ms": 0.0,
        "own_ms": 0.0,
        "forced": sorted(set(line.forced)),
    }
    return msgspec.convert(fields, MatchRecord, str_keys=True)


def _run(line: MatchLine, about: dict[str, tuple[Identity, ...]], count: int) -> Run:
    """Return the run that the first line of a file of `count` matches describes. `about` has what
    each bot states about itself, keyed by bot in the order in which the bots first appear."""
    stated = line.cup
    keys = msgspec.structs.asdict(stated.format)
    format = format_of(keys | {"challenger": stated.format.challenger or ""})
    # In a ladder the order of arrival matters.
    names = list(about) if isinstance(format, Ladder) else sorted(about)
    cup = Cup(
        name=stated.name,
        game=line.game,
        players=line.players,
        bots=tuple(Bot(name, author=stated.authors.get(name)) for name in names),
        options=line.options,
        format=format,
        stop=Stop(stated.stop.top, stated.stop.confidence) if stated.stop else Stop(),
        clock=msgspec.convert(stated.clock, Clock, from_attributes=True),
        strikes=stated.strikes,
    )
    decisions = tuple(
        msgspec.structs.replace(decision, number=number)
        for number, decision in enumerate(stated.decisions, 1)
    )
    return Run(
        cup=cup,
        finished=stated.finished,
        total=count if stated.total is None else stated.total,
        begun=stated.begun,
        places=stated.places,
        settled=tuple(stated.settled or ()),
        extended=stated.extended,
        about=about,
        decisions=decisions,
        voids=tuple(stated.voids),
        void_matches=sum(void.matches for void in stated.voids),
        max_difference=cup.max_difference,
        ranges=kind_of_ranges(cup, stated.finished, stated.extended, decisions),
    )
