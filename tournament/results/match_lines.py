"""Matches as lines of JSON, one each: the format that other programs read and write.

`docs/match-format.md` says every field; the schema beside it is made from the classes here.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

import games
from games import IllegalMove
from tournament.records import Count, Decision, DecisionKind, FaultKind, MatchRecord, Number
from tournament.store.reader import StoreReader

FORMAT: Final = "stich-match/1"
SAME: Final = (
    *("match", "block", "round", "stage", "game", "players", "options", "seed", "moves", "forced"),
    *("scores", "adjusted", "results", "started"),
)
"""The fields of a line that are those of a MatchRecord."""

_LEFT_OUT: Final = (DecisionKind.JOIN, DecisionKind.SKIP)

Positive = Annotated[int, Meta(ge=1, lt=2**31)]
# What is printed: without control characters, which could write anything on a terminal.
Text = Annotated[str, Meta(pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
Name = Annotated[str, Meta(pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")]
Milliseconds = Annotated[float, Meta(ge=0, le=1e9)]
InfoName = Annotated[str, Meta(pattern="^[a-z][a-z0-9_]{0,31}$")]
Index = Annotated[str, Meta(pattern=r"^[0-9]{1,7}$")]


class FormatFacts(Struct, frozen=True, omit_defaults=True):
    """The format of the cup, as in its `[format]`."""

    type: Literal["round-robin", "swiss", "knockout", "gauntlet", "halving", "ladder", "duel"] = (
        "round-robin"
    )
    deals: Count = 1
    seating: str = "rotations"
    cards: Literal["shared", "fresh"] = "shared"
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
    decisions: list[Decision] = []
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
    """The seats of the moves up to the first that is illegal, and why that one is.

    games.OptionError if there can be no such game.
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


def shown_matches(store: StoreReader, finished: bool) -> Iterator[MatchRecord]:
    """The finished matches of a run in the order of its blocks; while it goes on, without the
    blocks of which a match is still to be played: nobody may know their cards."""
    hidden = {
        block.block for block in store.blocks() if not finished and block.played < block.seatings
    }
    return (record for record in store.matches() if record.block not in hidden)


def match_lines(store: StoreReader) -> Iterator[MatchLine]:
    """The lines of a run, lazily."""
    facts = store.facts()
    cup, about = _cup_facts(facts), facts.get("about") or {}
    for record in shown_matches(store, cup.finished):
        yield _line(record, cup, about)


def _cup_facts(facts: Mapping[str, Any]) -> CupFacts:
    config = facts["config"]
    known = {
        **facts,
        "format": config["format"],
        "stop": config["stop"] if config.get("stop", {}).get("top") else None,
        "clock": config["clock"],
        "strikes": config["strikes"],
        "authors": {bot["name"]: bot["author"] for bot in config["bots"] if bot.get("author")},
        "voids": [VoidFacts(*void) for void in facts["voids"]],
        # Every line has them: who joined follows from the matches.
        "decisions": [one for one in facts["decisions"] if one.kind not in _LEFT_OUT],
    }
    return msgspec.convert(known, CupFacts)


def _line(record: MatchRecord, cup: CupFacts, about: Mapping[str, Any]) -> MatchLine:
    seats, _ = seats_of(record)
    same: dict[str, Any] = {name: getattr(record, name) for name in SAME}
    return MatchLine(
        **same,
        format=FORMAT,
        cup=cup,
        seating=record.number,
        bots=list(record.seating),
        about=[
            msgspec.convert(about[bot][-1], About) if about.get(bot) else None
            for bot in record.seating
        ],
        ms=[*times_by_move(record, seats)],
        info={str(index): dict(said) for index, said in record.info.items()},
        fallbacks=[FallbackLine(one.move, one.why) for one in record.fallbacks],
        faults=[FaultLine(one.move, one.kind, one.detail) for one in record.faults],
        struck_out=list(record.struck),
    )


def times_by_move(record: MatchRecord, seats: list[int]) -> Iterator[float | None]:
    """The milliseconds of each move, None where nobody was asked for it; ``seats`` are by move."""
    times = [iter(each) for each in record.times]
    for index in range(len(record.moves)):
        asked = index < len(seats) and index not in record.forced
        ms = next(times[seats[index]], None) if asked else None
        yield None if ms is None else round(ms, 3)
