"""The match format (`docs/match-format.md`): matches as lines of JSON. Reading lines of JSON.

The JSON Schema beside it is made from the classes here, including their docstrings.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct, convert

import games
from games import IllegalMove
from tournament.errors import StichError
from tournament.formats import FORMATS
from tournament.formats.format import Cards
from tournament.model import Run, VoidCount
from tournament.records import (
    AnyDecision,
    Count,
    FaultKind,
    Join,
    MatchRecord,
    Name,
    Number,
    Positive,
    Skip,
    Text,
    prepare,
)
from tournament.store.run_reader import RunReader

FORMAT: Final = "stich-match/1"
_SAME: Final = (  # the fields of a line that are the same in a MatchRecord
    *("match", "block", "round", "stage", "game", "players", "options", "seed", "moves", "forced"),
    *("scores", "adjusted", "results", "started"),
)
_BLOCKS: Final = 16  # read at a time
_MAX_LINE: Final = 1 << 26  # bytes
_T = TypeVar("_T")

Milliseconds = Annotated[float, Meta(ge=0, le=1e9)]
InfoName = Annotated[str, Meta(pattern="^[a-z][a-z0-9_]{0,31}$")]
Index = Annotated[str, Meta(pattern=r"^[0-9]{1,7}$")]
FormatName = Annotated[str, Meta(extra_json_schema={"enum": sorted(FORMATS)})]


class FormatFacts(Struct, frozen=True, omit_defaults=True):
    """The format of the cup, with keys from the section `[format]`."""

    type: FormatName = "round-robin"
    deals: Count = 1
    seating: str = "rotations"
    cards: Cards = "shared"
    challenger: Text | None = None
    within: float | None = None


class StopFacts(Struct, frozen=True):
    """The section `[stop]` of the cup."""

    top: Positive
    confidence: Annotated[float, Meta(gt=0, lt=1)] = 0.95


class ClockFacts(Struct, frozen=True, omit_defaults=True):
    """Keys from the section `[clock]` of the cup."""

    move_ms: Positive = 1000
    bank_ms: Count = 10_000
    ask_forced: bool = False


class CupFacts(Struct, frozen=True, omit_defaults=True):
    """The facts about the cup that a reader of a match needs, the same on every line of a file."""

    name: Text
    finished: bool = False
    total: Count | None = None
    begun: Text | None = None
    format: FormatFacts = FormatFacts()
    stop: StopFacts | None = None
    clock: ClockFacts = ClockFacts()
    strikes: Positive = 3
    authors: dict[str, Text] = {}
    places: dict[str, Positive] | None = None
    settled: list[str] | None = None
    extended: bool = False
    decisions: list[AnyDecision] = []
    voids: list[VoidCount] = []


class About(Struct, frozen=True, omit_defaults=True):
    """What a bot states about itself."""

    name: Text = ""
    version: Text = ""
    author: Text = ""


class FaultLine(Struct, frozen=True):
    """A fault. `move` is the index of the default move that was played instead."""

    move: Count
    kind: FaultKind
    detail: Text


class FallbackLine(Struct, frozen=True):
    """A move that was not the bot's own. `move` is its index, and `why` the reason."""

    move: Count
    why: Text


class MatchLine(Struct, frozen=True, kw_only=True):
    """A finished match. `docs/match-format.md` describes the fields."""

    format: Literal["stich-match/1"]
    cup: CupFacts
    match: Name
    block: Count
    seating: Count
    round: Count = 1
    stage: Text = ""
    game: str
    players: Positive
    options: dict[str, int | bool | None]
    seed: Text
    bots: list[Name]
    about: list[About | None] = []
    moves: list[str]
    forced: list[Count] = []
    ms: list[Milliseconds | None]
    info: dict[Index, dict[InfoName, Text | float]] = {}
    fallbacks: list[FallbackLine] = []
    faults: list[FaultLine] = []
    scores: list[Number]
    adjusted: list[Number]
    results: list[dict[str, Any]]
    struck_out: list[Count] = []
    started: Text = ""


prepare(MatchLine)


class LineError(StichError):
    """A line cannot be used. The message has the file, line and field, and the fix."""

    exit_code = 2


def read_lines(
    lines: Iterable[bytes], kind: type[_T], name: str, hint: str
) -> Iterator[tuple[int, _T]]:
    """Yield the number (from 1) and the object, of type `kind`, of each line that is not blank. In
    error messages, `name` is the name of the file, and `hint` says how to fix the line.

    Raises:
        LineError: during iteration, at the first line that is not JSON in UTF-8, is not an object
            of type `kind`, or is longer than 64 MiB.
    """
    decode = msgspec.json.Decoder(kind).decode
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            if len(line) > _MAX_LINE:
                raise ValueError(f"it is longer than {_MAX_LINE} bytes")
            value = decode(line)
        except msgspec.ValidationError as error:
            raise LineError(f"{name}:{number}: {_problem(error)}; {hint}") from None
        except (ValueError, RecursionError) as error:
            raise LineError(
                f"{name}:{number}: line: is not JSON in UTF-8 ({error}); {hint}"
            ) from None
        yield number, value


def _problem(error: msgspec.ValidationError) -> str:
    what, _, path = str(error).partition(" - at `$")
    field = path.strip("`.")
    if missing := re.fullmatch("Object missing required field `(.*)`", what):
        what, field = "is missing", f"{field}.{missing[1]}".lstrip(".")
    elif "x1f" in what:  # the pattern of a text
        what = "has control characters, or no other: write printable ones"
    return f"{field or 'line'}: {what}"


def seats_of(match: MatchRecord | MatchLine) -> tuple[list[int], IllegalMove | None]:
    """Return the seat of each move before the first illegal move, and the error for the illegal
    move (None if all moves are legal).

    Raises:
        games.OptionError: if the number of players, the seed or an option is not valid.
        games.UnknownGame: if there is no such game.
    """
    state = games.get(match.game).start(match.players, match.seed, match.options)
    seats: list[int] = []
    for move in match.moves:
        seat = state.turn
        try:
            state = state.advance(move)
        except IllegalMove as error:
            return seats, error
        if seat is not None:
            seats.append(seat)
    return seats, None


def shown_matches(store: RunReader, finished: bool) -> Iterator[MatchRecord]:
    """Yield the finished matches of a run, sorted by block and seating. Unless the run is
    `finished`, leave out blocks with matches still to be played, because their cards are secret.

    Raises:
        StoreError: during iteration, if the store cannot be read.
    """
    whole = [block.block for block in store.blocks() if finished or block.played >= block.seatings]
    for start in range(0, len(whole), _BLOCKS):  # a slow consumer keeps no transaction open
        part = whole[start : start + _BLOCKS]
        records = list(store.matches(range(part[0], part[-1] + 1)))
        yield from (record for record in records if record.block in part)


def match_lines(store: RunReader) -> Iterator[MatchLine]:
    """Yield a line for each match of `shown_matches`. All lines have the same facts about the cup.

    Raises:
        StoreError: during iteration, if the store cannot be read.
        games.OptionError, games.UnknownGame: during iteration, if a match cannot be started.
    """
    run = store.run()
    cup = _cup_facts(run)
    for record in shown_matches(store, run.finished):
        yield _line(record, cup, run)


def _cup_facts(run: Run) -> CupFacts:
    cup = run.cup
    return CupFacts(
        name=cup.name,
        finished=run.finished,
        total=run.total,
        begun=run.begun,
        format=convert(cup.format, FormatFacts, from_attributes=True),
        stop=None if cup.stop.top is None else StopFacts(cup.stop.top, cup.stop.confidence),
        clock=convert(cup.clock, ClockFacts, from_attributes=True),
        strikes=cup.strikes,
        authors={bot.name: bot.author for bot in cup.bots if bot.author},
        places=None if run.places is None else dict(run.places),
        settled=list(run.settled) or None,
        extended=run.extended,
        # Decisions of bots are left out to keep lines short. The matches show which bots joined.
        decisions=[made for made in run.decisions if not isinstance(made, Join | Skip)],
        voids=list(run.voids),
    )


def _about(run: Run, bot: str) -> About | None:
    stated = run.about.get(bot)
    return About(stated[-1].name, stated[-1].version, stated[-1].author) if stated else None


def _line(record: MatchRecord, cup: CupFacts, run: Run) -> MatchLine:
    seats, _ = seats_of(record)
    same: dict[str, Any] = {name: getattr(record, name) for name in _SAME}
    return MatchLine(
        **same,
        format=FORMAT,
        cup=cup,
        seating=record.number,
        bots=list(record.seating),
        about=[_about(run, bot) for bot in record.seating],
        ms=[*_times_by_move(record, seats)],
        info={str(index): dict(info) for index, info in record.info.items()},
        fallbacks=[FallbackLine(fallback.move, fallback.why) for fallback in record.fallbacks],
        faults=[FaultLine(fault.move, fault.kind, fault.detail) for fault in record.faults],
        struck_out=list(record.struck),
    )


def _times_by_move(record: MatchRecord, seats: list[int]) -> Iterator[float | None]:
    """Yield the thinking time of each move in milliseconds, or None for a move without a request.
    Moves beyond the end of `seats` count as moves without a request."""
    times = [iter(of_seat) for of_seat in record.times]
    for index in range(len(record.moves)):
        asked = index < len(seats) and index not in record.forced
        ms = next(times[seats[index]], None) if asked else None
        yield None if ms is None else round(ms, 3)
