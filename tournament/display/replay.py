"""Replays of finished matches, move by move, with clocks and faults, and reports on faults."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import games
from games import IllegalMove
from games.game import JsonDict
from tournament.bot.protocol import TimeBank
from tournament.config.cup import Cup
from tournament.errors import ReplayError
from tournament.records import FaultRecord, MatchRecord
from tournament.text import printable_lines

VERBS: Final = {"exchange": "give", "discard": "discard", "call": "call"}
"""The kind of move that a list of cards means, by phase. In other phases the kind is `play`."""
_FIELDS: Final = (
    *("match", "block", "round", "stage", "game", "seed", "seating", "scores", "adjusted"),
    *("struck", "started", "wall_ms", "own_ms", "outputs"),
)
PORT = 9000
_CLOCK = ("move_ms", "bank_ms")  # left out, because a replay has the clock for every move


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
    """Return a match as JSON values, with its faults and a list of its steps. `cup` is the cup of
    the match.

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


def curl(fault: FaultRecord, command: str | None) -> str:
    """Return the curl command that repeats the request of a fault, without the bot's token.

    `command` is the command of a started bot, which is expected on port 9000 of this machine, or
    None for a remote bot. curl waits as long as the bot had time to answer, but at least a second.
    `fault` must not be from a file of matches, in which faults have no requests.
    """
    url = f"http://127.0.0.1:{PORT}" if command is not None else fault.url
    return (
        f"curl -sS -i --max-time {max(1.0, fault.deadline_ms / 1000):g}"
        f" -H 'Content-Type: application/json' {shlex.quote(url + '/move')} --data-binary "
        + shlex.quote(fault.request)
    )


def start_command(command: str) -> str:
    """Return the shell command, to be run in the bot's folder, that starts a bot on port 9000."""
    return f"PORT={PORT} {command}"


def post_mortem(
    record: MatchRecord, fault: FaultRecord, cup: Cup, *, show_command: bool = True
) -> str:
    """Return all details of one fault as English text, with the commands that repeat its request.

    Without `show_command`, for readers other than the organiser, leave out the command that starts
    the bot. For a file of matches, which has no requests, describe only the fault and its time.
    """
    bot = record.seating[fault.seat]
    command = cup.bot(bot).command
    answer = fault.answer
    lines = [
        f"{bot} (seat {fault.seat}), match {record.match}, request {fault.turn}: {fault.kind}",
        f"  {fault.detail}",
        f"  The default move {fault.played} was played instead.",
    ]
    if not fault.request:  # the match is from a file of matches
        lines.append(f"  took      {fault.elapsed_ms:.1f} ms; the run has request and answer")
        return "\n".join(lines)
    lines += [
        f"  asked     {fault.started} at {fault.url}/move",
        f"  took      {fault.elapsed_ms:.1f} ms of {fault.deadline_ms:.0f} ms"
        f" ({fault.move_ms} ms a move and {fault.bank_ms:.0f} ms in the bank)",
        f"  request   {fault.request}",
    ]
    if answer.status is None and not answer.body:
        lines.append("  answer    none")
    else:
        status = "no status line" if answer.status is None else f"status {answer.status}"
        lines.append(f"  answer    {status}, {answer.size} bytes of body")
        lines += _indented(answer.headers) + _indented(answer.body)
    if command is not None:
        lines.append("  output    " + ("nothing" if not fault.output else "last:"))
        lines += _indented(fault.output)
        if show_command:
            lines.append(f"  start     {start_command(command)}")
    lines.append(f"  repeat    {curl(fault, command)}")
    return "\n".join(lines)


def fault_dict(record: MatchRecord, fault: FaultRecord, cup: Cup) -> dict[str, Any]:
    """Return all details of one fault except `move_ms` and `bank_ms`, as JSON values.

    The bot's name is added, and the commands to start the bot (`start`, None for a remote bot) and
    to repeat the request (`curl`). For a file of matches, which has no requests, `url` and `curl`
    are None. `start` contains the bot's own command, so the result is for the organiser only.
    """
    bot = record.seating[fault.seat]
    command = cup.bot(bot).command
    fields = {key: value for key, value in asdict(fault).items() if key not in _CLOCK}
    return fields | {
        "bot": bot,
        "elapsed_ms": round(fault.elapsed_ms, 3),
        "url": f"{fault.url}/move" if fault.request else None,
        "start": None if command is None else start_command(command),
        "curl": curl(fault, command) if fault.request else None,
    }


def _indented(text: str) -> list[str]:
    """Return the lines of `text`, indented and escaped, without empty lines."""
    return ["            " + line for line in printable_lines(text).split("\n") if line]
