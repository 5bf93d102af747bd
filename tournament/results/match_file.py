"""A file of matches, read: it becomes a store in a folder, which is read as that of a run."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

import games
from games import OptionError
from tournament.config import Bot, Clock, Cup, Format, Stop
from tournament.paths import STORE_FILE
from tournament.records import MatchRecord, VoidRecord
from tournament.results.lines import LineError, read_lines
from tournament.results.match_lines import SAME, CupFacts, MatchLine, seats_of
from tournament.store import engine, rows
from tournament.store.reader import VERSION
from tournament.store.tables import blocks, decisions, matches, metadata, voids

_HINT = "`stich export DIR --format matches` writes such lines; docs/match-format.md says all."
_UNKNOWN_OF_A_FAULT = {
    **{"url": "", "request": "", "answer": {}},
    **{"deadline_ms": 0.0, "bank_ms": 0.0},
}


def unpack(lines: Iterable[bytes], name: str, folder: Path, *, any_moves: bool = False) -> None:
    """Make a store of a file's lines in an empty folder; `name` is what errors call the file.

    LineError for the first bad line. Unless `any_moves`, an illegal move makes it bad, too.
    """
    database = engine.sqlite(folder / STORE_FILE)
    try:
        with database.begin() as connection:
            metadata.create_all(connection)
            _Unpacking(connection, name, any_moves).read(lines)
    finally:
        database.dispose()


class _Unpacking:
    """What is known of a file while it is read."""

    def __init__(self, connection: Connection, name: str, any_moves: bool) -> None:
        self.connection = connection
        self.name = name
        self.any_moves = any_moves
        self.number = 0
        self.first: MatchLine | None = None
        self.about: dict[str, list[dict[str, str]]] = {}

    def error(self, field: str, text: str) -> LineError:
        return LineError(f"{self.name}:{self.number}: {field}: {text}")

    def read(self, lines: Iterable[bytes]) -> None:
        count = 0
        for number, line in read_lines(lines, MatchLine, self.name, _HINT):
            self.number = number
            self.first = self.first or line
            self.add(line)
            count += 1
        if self.first is None:
            raise LineError(f"{self.name}: there is no match; {_HINT}")
        self.finish(self.first, count)

    def add(self, line: MatchLine) -> None:
        self.check(line)
        block = self.connection.execute(sa.select(blocks).where(blocks.c.block == line.block))
        for row in block:
            self.check_block(line, row)
        try:
            rows.insert_match(self.connection, self.record(line))
        except sa.exc.IntegrityError:
            raise self.error(
                "match",
                f"{line.match}, or seating {line.seating} of block {line.block}, is in a line above"
                " too; remove one.",
            ) from None
        for bot, said in zip(line.bots, line.about, strict=False):
            if bot not in self.about:
                self.about[bot] = [] if said is None else [msgspec.to_builtins(said)]

    def check(self, line: MatchLine) -> None:
        """LineError unless the fields of a line fit each other and the first line."""
        assert self.first is not None  # noqa: S101
        for field in ("cup", "game", "players", "options"):
            if getattr(line, field) != getattr(self.first, field):
                raise self.error(field, "is not that of the first line; keep one run in a file.")
        if line.game not in games.GAMES:
            raise self.error(
                "game", f"there is no {line.game!r}; there are {', '.join(games.GAMES)}."
            )
        for field, length in (
            ("bots", line.players),
            ("scores", line.players),
            ("adjusted", line.players),
            ("about", line.players if line.about else 0),
            ("ms", len(line.moves)),
        ):
            if len(getattr(line, field)) != length:
                raise self.error(field, f"must have {length} entries.")
        if not line.results:
            raise self.error("results", "must have an entry for each deal, at least one.")
        if any(seat >= line.players for seat in line.struck_out):
            raise self.error("struck_out", f"must be seats from 0 to {line.players - 1}.")
        if any(index >= len(line.moves) or line.ms[index] is not None for index in line.forced):
            raise self.error("forced", "must be indexes of moves whose ms is null.")
        if any(int(index) >= len(line.moves) for index in line.info):
            raise self.error("info", "must be by the index of a move.")
        at = [fault.move for fault in line.faults]
        if len(set(at)) < len(at):
            raise self.error("faults", "two are at the same move; remove one.")
        for index in at:
            if index >= len(line.moves) or line.ms[index] is None:
                raise self.error("faults", f"there is no time in ms for move {index}; add it.")

    def check_block(self, line: MatchLine, block: sa.Row[Any]) -> None:
        """LineError unless a match has the bots and the cards of its block's others."""
        if rows.dumps(sorted(set(line.bots))) != block.bots:
            raise self.error("bots", f"are not those of block {line.block} above; use the same.")
        if line.cup.format.cards == "shared":
            query = sa.select(matches.c.seed).where(matches.c.block_id == block.id).limit(1)
            if self.connection.execute(query).scalar() != line.seed:
                raise self.error(
                    "seed",
                    f"is not that of block {line.block} above; use the same, or say that the format"
                    ' of the cup has "cards": "fresh".',
                )

    def record(self, line: MatchLine) -> MatchRecord:
        """The match of a line, dealt and played again to know who made each move."""
        try:
            seats, illegal = seats_of(line.game, line.players, line.seed, line.options, line.moves)
        except OptionError as error:
            raise self.error("options", f"{error} {_HINT}") from None
        if illegal is not None and not self.any_moves:
            index = len(seats)
            raise self.error(
                "moves",
                f"move {index} ({line.moves[index]}) of match {line.match} is not legal"
                f" ({illegal.reason}): {illegal.detail} `stich verify` checks the whole file.",
            )
        times: list[list[float]] = [[] for _ in range(line.players)]
        by_move = {fault.move: fault for fault in line.faults}
        faults = []
        for index, (seat, ms) in enumerate(zip(seats, line.ms, strict=False)):
            if ms is None:
                continue
            times[seat].append(ms)
            if fault := by_move.get(index):
                found = {
                    **msgspec.structs.asdict(fault),
                    "seat": seat,
                    "turn": len(times[seat]),
                    "played": line.moves[index],
                    "started": line.started,
                    "elapsed_ms": ms,
                    "move_ms": line.cup.clock.move_ms,
                }
                faults.append({**_UNKNOWN_OF_A_FAULT, **found})
        known = {
            **{name: getattr(line, name) for name in SAME},
            "key": str(line.block),
            "number": line.seating,
            "seatings": 1,
            "table": sorted(set(line.bots)),
            "seating": line.bots,
            "deals": len(line.results),
            "struck": line.struck_out,
            "faults": faults,
            "times": times,
            "outputs": [""] * line.players,
            "wall_ms": 0.0,
            "own_ms": 0.0,
            "forced": sorted(set(line.forced)),
            "info": line.info,
        }
        return msgspec.convert(known, MatchRecord, str_keys=True)

    def finish(self, line: MatchLine, count: int) -> None:
        """Write what concerns the whole run; all matches of a block are in the file."""
        of_block = sa.select(sa.func.count()).where(matches.c.block_id == blocks.c.id)
        self.connection.execute(sa.update(blocks).values(seatings=of_block.scalar_subquery()))
        facts = _facts(line, self.about, count)
        known = {key: value for key, value in facts.items() if value is not None}
        rows.put_facts(self.connection, known)
        for decision in line.cup.decisions:
            data = asdict(decision)
            del data["number"]
            rows.append(self.connection, decisions, data)
        for void in _voids(line.cup):
            rows.append(self.connection, voids, asdict(void))


def _voids(cup: CupFacts) -> Iterator[VoidRecord]:
    for void in cup.voids:
        for _ in range(void.matches):
            yield VoidRecord("", 0, "", 0, 0, (), void.bot, void.why, "", "")


def _facts(line: MatchLine, about: dict[str, list[dict[str, str]]], count: int) -> dict[str, Any]:
    """The facts of the run; without its seed, which a file does not say."""
    cup, game = line.cup, games.get(line.game)
    bots = tuple(Bot(name, author=cup.authors.get(name)) for name in sorted(about))
    config = Cup(
        name=cup.name,
        game=line.game,
        players=line.players,
        bots=bots,
        options=line.options,
        format=Format(**msgspec.structs.asdict(cup.format)),
        stop=Stop(**msgspec.structs.asdict(cup.stop)) if cup.stop else Stop(),
        clock=Clock(**msgspec.structs.asdict(cup.clock)),
        strikes=cup.strikes,
    )
    return {
        "version": VERSION,
        "run": secrets.token_hex(16),
        "signer": secrets.token_hex(32),
        "name": cup.name,
        "game": line.game,
        "players": line.players,
        "teams": game.teams,
        "max_difference": game.max_difference(line.players, line.options),
        "config": config.to_dict(),
        "bots": [bot.name for bot in bots],
        "finished": cup.finished,
        "total": count if cup.total is None else cup.total,
        "places": cup.places,
        "settled": cup.settled,
        "about": {bot: said for bot, said in about.items() if said},
        "begun": cup.begun,
        "extended": cup.extended or None,
    }
