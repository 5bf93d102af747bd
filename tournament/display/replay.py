"""Replays of finished matches, move by move, with clocks and faults."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import games
from games import IllegalMove
from games.game import JsonDict
from tournament.bot.protocol import TimeBank
from tournament.config.cup import Cup
from tournament.display.post_mortem import fault_dict
from tournament.errors import ReplayError
from tournament.records import FaultRecord, MatchRecord

VERBS: Final = {"exchange": "give", "discard": "discard", "call": "call"}
"""The kind of move that a list of cards means, by phase. In other phases the kind is `play`."""
_FIELDS: Final = (
    *("match", "block", "round", "stage", "game", "seed", "seating", "scores", "adjusted"),
    *("struck", "started", "wall_ms", "own_ms", "outputs"),
)


@dataclass(frozen=True, slots=True)
class Step:
    """A move in a match, and the state after it. The first step has no move, only the first state.

    `number` counts the steps from 0. `ms` is the bot's thinking time in milliseconds. It is None if
    the bot was not asked, because the move was `forced` (the only legal one) or the bot was struck
    out. `banks` are the time banks by seat after the move, in milliseconds. `fault` is the fault
    for which the default move was played. `before` and `state` are the full states before and after
    the move as JSON values. `info` is the bot's information beside the move. `fallback` is the
    reason for a move that was not the bot's own.
    """

    number: int
    seat: int | None
    move: str | None
    ms: float | None
    banks: tuple[float, ...]
    fault: FaultRecord | None
    before: JsonDict | None
    state: JsonDict
    forced: bool = False
    info: Mapping[str, str | float] = field(default_factory=dict)
    fallback: str | None = None

    @property
    def default(self) -> bool:
        """Whether the move is a default move that was played in place of the bot's choice."""
        return self.fault is not None or (
            self.move is not None and self.ms is None and not self.forced
        )


def steps(record: MatchRecord, cup: Cup) -> Iterator[Step]:
    """Replay a match from its seed, and yield its steps. `cup` is the cup of the match.

    Raises:
        ReplayError: at the step of a move that is not legal or comes after the end of the game.
        games.OptionError, games.UnknownGame: at the first step, if the match cannot be started.
    """
    state = games.get(record.game).start(record.players, record.seed, record.options)
    clock = cup.clock
    clocks = [TimeBank(clock.move_ms, float(clock.bank_ms)) for _ in range(record.players)]
    asked = [iter(times) for times in record.times]
    faults = {fault.move: fault for fault in record.faults}
    forced = frozenset(record.forced)
    fallbacks = {fallback.move: fallback.why for fallback in record.fallbacks}
    shown = state.to_dict()
    banks = tuple(clock.bank_ms for clock in clocks)
    yield Step(0, None, None, None, banks, None, None, shown)
    for index, move in enumerate(record.moves):
        seat = state.turn
        if seat is None:
            raise ReplayError(record.match, index, move, "The game is over.")
        ms = None if index in forced else next(asked[seat], None)
        if ms is not None:
            clocks[seat].charge(ms)
        try:
            state = state.advance(move)
        except IllegalMove as error:
            raise ReplayError(record.match, index, move, error.detail) from None
        before, shown = shown, state.to_dict()
        yield Step(
            index + 1,
            seat,
            move,
            ms,
            tuple(clock.bank_ms for clock in clocks),
            faults.get(index),
            before,
            shown,
            index in forced,
            record.info.get(index, {}),
            fallbacks.get(index),
        )


def to_dict(record: MatchRecord, cup: Cup) -> dict[str, Any]:
    """Return a match as JSON values, with its faults and a list of its steps.

    The faults contain the commands that start bots, so the result is for the organiser only.

    Raises:
        ReplayError: if a move is not legal or comes after the end of the game.
        games.OptionError, games.UnknownGame: if the match cannot be started.
    """
    return {name: getattr(record, name) for name in _FIELDS} | {
        "faults": [fault_dict(record, fault, cup) for fault in record.faults],
        "steps": [
            {
                "number": step.number,
                "seat": step.seat,
                "bot": None if step.seat is None else record.seating[step.seat],
                "move": step.move,
                "house": step.default,
                "forced": step.forced,
                "info": step.info,
                "fallback": step.fallback,
                "ms": None if step.ms is None else round(step.ms, 3),
                "bank_ms": [round(bank, 3) for bank in step.banks],
                "state": step.state,
            }
            for step in steps(record, cup)
        ],
    }


def cards_of(move: str) -> list[str]:
    """Return the cards that a move names, including hidden cards (`??`). The list is empty for a
    pass, a bid or a trump."""
    kind, _, named = move.partition(":")
    if kind in ("bid", "trump"):
        return []
    cards = named.partition("=")[0]
    return [cards[i : i + 2] for i in range(0, len(cards), 2)]
