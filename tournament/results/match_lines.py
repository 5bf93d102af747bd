"""Matches as lines of JSON, one each: the format that other programs read and write.

`docs/match-format.md` says every field; the schema beside it is made from the classes here.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

import games
from games import IllegalMove
from tournament.formats import FORMATS
from tournament.formats.duel import Duel
from tournament.formats.format import Cards, WithDeals
from tournament.formats.round_robin import Gauntlet
from tournament.model import Run
from tournament.records import AnyDecision, Count, FaultKind, Join, MatchRecord, Number, Skip
from tournament.results.reading import RunReader

FORMAT: Final = "stich-match/1"
SAME: Final = (
    *("match", "block", "round", "stage", "game", "players", "options", "seed", "moves", "forced"),
    *("scores", "adjusted", "results", "started"),
)
"""The fields of a line that are those of a MatchRecord."""

_BLOCKS: Final = 16
"""How many blocks are read at a time."""

Positive = Annotated[int, Meta(ge=1, lt=2**31)]
# What is printed: without control characters, which could write anything on a terminal.
Text = Annotated[str, Meta(pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
Name = Annotated[str, Meta(pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")]
Milliseconds = Annotated[float, Meta(ge=0, le=1e9)]
InfoName = Annotated[str, Meta(pattern="^[a-z][a-z0-9_]{0,31}$")]
Index = Annotated[str, Meta(pattern=r"^[0-9]{1,7}$")]
FormatName = Annotated[str, Meta(extra_json_schema={"enum": sorted(FORMATS)})]


class FormatFacts(Struct, frozen=True, omit_defaults=True):
    """The format of the cup, as in its `[format]`."""

    type: FormatName = "round-robin"
    deals: Count = 1
    seating: str = "rotations"
    cards: Cards = "shared"
    challenger: Name | None = None
    within: float | None = None


class StopFacts(Struct, frozen=True):
    """`[stop]` of the cup."""

    top: Positive
    confidence: Annotated[float, Meta(gt=0, lt=1)] = 0.95


class ClockFacts(Struct, frozen=True, omit_defaults=True):
    """`[clock]` of the cup."""

    move_ms: Positive = 1000
    bank_ms: Count = 10_000
    ask_forced: bool = False


class VoidFacts(Struct, frozen=True):
    """How many matches were void because of a bot, and the last reason."""

    bot: Name
    why: str
    matches: Annotated[int, Meta(ge=1, le=10_000)]


class CupFacts(Struct, frozen=True, omit_defaults=True):
    """What a reader of a match must know of its cup; the same in every line of a file."""

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
    voids: list[VoidFacts] = []


class About(Struct, frozen=True, omit_defaults=True):
    """What a bot says about itself."""

    name: Text = ""
    version: Text = ""
    author: Text = ""


class FaultLine(Struct, frozen=True):
    """A fault of the bot that was to make the move with this index."""

    move: Count
    kind: FaultKind
    detail: Text


class FallbackLine(Struct, frozen=True):
    """The move with this index was not the bot's own, and why."""

    move: Count
    why: Text


class MatchLine(Struct, frozen=True, kw_only=True):
    """A finished match."""

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
    seed: str
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


def seats_of(match: MatchRecord | MatchLine) -> tuple[list[int], IllegalMove | None]:
    """The seats of the moves before the first illegal one, and the error of that move.

    The error is None if all moves are legal.

    Raises:
        games.OptionError: if there can be no such game.
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
    """Yield the finished matches of a run in the order of its blocks.

    Unless the run is `finished`, blocks that are incomplete at first are left out, because their
    cards are still secret. The store is read a few blocks at a time: a slow reader keeps no
    transaction open.
    """
    whole = [one.block for one in store.blocks() if finished or one.played >= one.seatings]
    for start in range(0, len(whole), _BLOCKS):
        part = whole[start : start + _BLOCKS]
        records = list(store.matches(range(part[0], part[-1] + 1)))
        yield from (record for record in records if record.block in part)


def match_lines(store: RunReader) -> Iterator[MatchLine]:
    """Yield the lines of a run, as it is when the first one is read."""
    run = store.run()
    cup = _cup_facts(run)
    for record in shown_matches(store, run.finished):
        yield _line(record, cup, run)


def _cup_facts(run: Run) -> CupFacts:
    cup, format = run.cup, run.cup.format
    return CupFacts(
        name=cup.name,
        finished=run.finished,
        total=run.total,
        begun=run.begun,
        format=FormatFacts(
            type=format.type,
            deals=format.deals if isinstance(format, WithDeals) else 1,
            seating=format.seating,
            cards=format.cards,
            challenger=format.challenger if isinstance(format, Gauntlet) else None,
            within=format.within if isinstance(format, Duel) else None,
        ),
        stop=None if cup.stop.top is None else StopFacts(cup.stop.top, cup.stop.confidence),
        clock=ClockFacts(cup.clock.move_ms, cup.clock.bank_ms, cup.clock.ask_forced),
        strikes=cup.strikes,
        authors={bot.name: bot.author for bot in cup.bots if bot.author},
        places=None if run.places is None else dict(run.places),
        settled=list(run.settled) or None,
        extended=run.extended,
        # Every line repeats the decisions. The matches show which bots joined.
        decisions=[made for made in run.decisions if not isinstance(made, Join | Skip)],
        voids=[VoidFacts(void.bot, void.why, void.matches) for void in run.voids],
    )


def _about(run: Run, bot: str) -> About | None:
    stated = run.about.get(bot)
    return About(stated[-1].name, stated[-1].version, stated[-1].author) if stated else None


def _line(record: MatchRecord, cup: CupFacts, run: Run) -> MatchLine:
    seats, _ = seats_of(record)
    same: dict[str, Any] = {name: getattr(record, name) for name in SAME}
    return MatchLine(
        **same,
        format=FORMAT,
        cup=cup,
        seating=record.number,
        bots=list(record.seating),
        about=[_about(run, bot) for bot in record.seating],
        ms=[*times_by_move(record, seats)],
        info={str(index): dict(info) for index, info in record.info.items()},
        fallbacks=[FallbackLine(fallback.move, fallback.why) for fallback in record.fallbacks],
        faults=[FaultLine(fault.move, fault.kind, fault.detail) for fault in record.faults],
        struck_out=list(record.struck),
    )


def times_by_move(record: MatchRecord, seats: list[int]) -> Iterator[float | None]:
    """Yield the milliseconds of each move, or None if no bot was asked for the move.

    ``seats`` holds the seat of each move.
    """
    times = [iter(of_seat) for of_seat in record.times]
    for index in range(len(record.moves)):
        asked = index < len(seats) and index not in record.forced
        ms = next(times[seats[index]], None) if asked else None
        yield None if ms is None else round(ms, 3)
