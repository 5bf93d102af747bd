"""A file of matches, read: it becomes a store in a folder, which is read as that of a run."""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

import games
from games import OptionError
from tournament.config.cup import LADDER, Bot, Clock, Cup, Format, Stop
from tournament.paths import STORE_FILE
from tournament.records import Answer, FallbackRecord, FaultRecord, MatchRecord, VoidRecord
from tournament.results.lines import LineError, read_lines
from tournament.results.match_lines import MatchLine, seats_of
from tournament.store import engine, rows
from tournament.store.reader import VERSION, summary_query
from tournament.store.tables import blocks, decisions, matches, metadata, voids

_HINT = "`stich export DIR --format matches` writes such lines; docs/match-format.md says all."


def unpack(lines: Iterable[bytes], name: str, folder: Path, *, any_moves: bool = False) -> None:
    """Make a store of a file's lines in an empty folder; `name` is what errors call the file.

    LineError for the first bad line. Unless `any_moves`, an illegal move makes it bad, too.
    """
    database = engine.sqlite(folder / STORE_FILE)
    first: MatchLine | None = None
    about: dict[str, list[dict[str, str]]] = {}
    count = 0
    try:
        with database.begin() as connection:
            metadata.create_all(connection)
            for number, line in read_lines(lines, MatchLine, name, _HINT):
                first = first or line
                try:
                    _add(connection, line, first, any_moves)
                except LineError as error:
                    raise LineError(f"{name}:{number}: {error}") from None
                for bot, said in zip(line.bots, line.about or [None] * line.players, strict=True):
                    about.setdefault(bot, [] if said is None else [msgspec.to_builtins(said)])
                count += 1
            if first is None:
                raise LineError(f"{name}: there is no match; {_HINT}")
            _finish(connection, first, about, count)
    finally:
        database.dispose()


def _add(connection: Connection, line: MatchLine, first: MatchLine, any_moves: bool) -> None:
    """Write the match of a line; LineError, without its number, if it is a bad one."""
    for problem in chain(_problems(line, first), _problems_in_block(connection, line)):
        raise LineError(problem)
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
    try:
        rows.insert_match(connection, _record(line, seats))
    except sa.exc.IntegrityError:
        raise LineError(
            f"match: {line.match}, or seating {line.seating} of block {line.block}, is in a line"
            " above too; remove one."
        ) from None


def _problems(line: MatchLine, first: MatchLine) -> Iterator[str]:
    """The fields of a line that do not fit each other or the first line."""
    for field in ("cup", "game", "players", "options"):
        if getattr(line, field) != getattr(first, field):
            yield f"{field}: is not that of the first line; keep one run in a file."
    if line.game not in games.GAMES:
        yield f"game: there is no {line.game!r}; there are {', '.join(games.GAMES)}."
    moves, players = len(line.moves), line.players
    lengths = dict.fromkeys(("bots", "scores", "adjusted"), players)
    for field, length in {**lengths, "about": players * bool(line.about), "ms": moves}.items():
        if len(getattr(line, field)) != length:
            yield f"{field}: must have {length} entries."
    if not line.results:
        yield "results: must have an entry for each deal, at least one."
    if any(seat >= players for seat in line.struck_out):
        yield f"struck_out: must be seats from 0 to {players - 1}."
    if any(index >= moves or line.ms[index] is not None for index in line.forced):
        yield "forced: must be indexes of moves whose ms is null."
    yield from _index_problems(line)


def _index_problems(line: MatchLine) -> Iterator[str]:
    """The fields of a line that name moves which are not there."""
    moves = len(line.moves)
    said = {"info": map(int, line.info), "fallbacks": (one.move for one in line.fallbacks)}
    for field, indexes in said.items():
        if max(indexes, default=-1) >= moves:
            yield f"{field}: must be by the index of a move."
    at = [fault.move for fault in line.faults]
    if len(set(at)) < len(at):
        yield "faults: two are at the same move; remove one."
    for index in at:
        if index >= moves or line.ms[index] is None:
            yield f"faults: there is no time in ms for move {index}; add it."


def _problems_in_block(connection: Connection, line: MatchLine) -> Iterator[str]:
    """A match has the bots and the cards of its block's others."""
    query = summary_query().where(blocks.c.block == line.block).limit(1)
    for other in map(rows.to_summary, connection.execute(query)):
        if sorted(set(line.bots)) != list(other.table):
            yield f"bots: are not those of block {line.block} above; use the same."
        if line.cup.format.cards == "shared" and line.seed != other.seed:
            yield (
                f"seed: is not that of block {line.block} above; use the same, or say that the"
                ' format of the cup has "cards": "fresh".'
            )


def _record(line: MatchLine, seats: Sequence[int]) -> MatchRecord:
    """The match of a line; `seats` made its moves."""
    times: list[list[float]] = [[] for _ in range(line.players)]
    by_move = {fault.move: fault for fault in line.faults}
    faults = []
    for index, (seat, ms) in enumerate(zip(seats, line.ms, strict=False)):
        if ms is None:
            continue
        times[seat].append(ms)
        if fault := by_move.get(index):
            found = FaultRecord(
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
            faults.append(found)
    known = {
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
            FallbackRecord(seats[one.move], one.move, one.why)
            for one in line.fallbacks
            if one.move < len(seats)
        ],
        "times": times,
        "outputs": [""] * line.players,
        "wall_ms": 0.0,
        "own_ms": 0.0,
        "forced": sorted(set(line.forced)),
    }
    return msgspec.convert(known, MatchRecord, str_keys=True)


def _finish(
    connection: Connection, line: MatchLine, about: dict[str, list[dict[str, str]]], count: int
) -> None:
    """Write what concerns the whole run; all matches of a block are in the file. Its seed is not
    known."""
    of_block = sa.select(sa.func.count()).where(matches.c.block_id == blocks.c.id)
    connection.execute(sa.update(blocks).values(seatings=of_block.scalar_subquery()))
    cup = line.cup
    # In a ladder it matters who came first.
    names = list(about) if cup.format.type == LADDER else sorted(about)
    config = Cup(
        name=cup.name,
        game=line.game,
        players=line.players,
        bots=tuple(Bot(name, author=cup.authors.get(name)) for name in names),
        options=line.options,
        format=Format(**msgspec.structs.asdict(cup.format)),
        stop=Stop(**msgspec.structs.asdict(cup.stop)) if cup.stop else Stop(),
        clock=Clock(**msgspec.structs.asdict(cup.clock)),
        strikes=cup.strikes,
    )
    facts = {
        "version": VERSION,
        "run": secrets.token_hex(16),
        "signer": secrets.token_hex(32),
        "config": config.to_dict(),
        "finished": cup.finished,
        "total": count if cup.total is None else cup.total,
        "places": cup.places,
        "settled": cup.settled,
        "about": {bot: said for bot, said in about.items() if said},
        "begun": cup.begun,
        "extended": cup.extended or None,
    }
    rows.put_facts(connection, {key: one for key, one in facts.items() if one is not None})
    for decision in cup.decisions:
        rows.append(connection, decisions, decision)
    for void in cup.voids:
        record = VoidRecord("", 0, "", 0, 0, (), void.bot, void.why, "", "")
        for _ in range(void.matches):
            rows.append(connection, voids, record)
