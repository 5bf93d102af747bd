"""The bots that a person plays against: started or called, and replaced where they fail."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import ExitStack
from time import monotonic

from games import IllegalMove
from games.game import State
from games.move import Move
from tournament.bot.dial import dial_url
from tournament.bot.player import Failure, HttpBot
from tournament.bot.process import LaunchSettings
from tournament.bot.protocol import TimeBank, end_request, move_request, start_request
from tournament.bot.started_bot import StartError, start
from tournament.config import Bot, Clock
from tournament.config.arguments import parse_bot

DEFAULT = ("sensible", "greedy")

_CONNECT_S = 5

STRIKES = 3
"""As in a cup whose organiser does not say otherwise."""


class Opponent:
    """A bot at a seat, with a bank of time and some strikes for the whole game."""

    def __init__(self, name: str, bot: HttpBot, clock: Clock, match: str) -> None:
        self.name = name
        self._bot = bot
        self._match = match
        self._strikes = 0
        self._clock = TimeBank(clock.move_ms, clock.bank_ms)
        self._turn = 0

    def start_match(self, state: State, seat: int) -> None:
        """Tell it that the game begins."""
        body = start_request(
            self._match,
            state.game.name,
            seat,
            players=state.players,
            options=state.options,
            clock=self._clock.to_dict(),
        )
        self._notify("/start", body)

    def end_match(self, state: State, seat: int) -> None:
        """Tell it how the game ended."""
        self._notify("/end", end_request(self._match, state.game.name, seat, state.scores))

    def _notify(self, path: str, body: bytes) -> None:
        if not self.out:
            self._bot.notify(path, body, self._clock.move_ms / 1000)

    @property
    def out(self) -> bool:
        """Whether it has all its strikes: it is not asked again, and the default move is played."""
        return self._strikes >= STRIKES

    def move(self, state: State, seat: int) -> tuple[Move, str]:
        """Its move; or the default move and a sentence that says what the bot did wrong, which
        is empty if the bot is out."""
        if self.out:
            return state.moves()[0], ""
        move, fault = self._ask(state, seat)
        self._strikes += bool(fault)
        if fault and self._strikes == STRIKES:
            fault += f" That was strike {STRIKES} of {STRIKES}: it is not asked again in this game."
        return move, fault

    def _ask(self, state: State, seat: int) -> tuple[Move, str]:
        self._turn += 1
        view = state.view(seat)
        moves = view.moves()
        body = move_request(
            self._match, self._turn, view.to_dict(), moves.texts(), self._clock.to_dict()
        )
        outcome = self._bot.move(body, self._clock.deadline_ms / 1000)
        self._clock.charge(outcome.elapsed_s * 1000)
        if isinstance(outcome, Failure):
            return moves[0], f"{outcome.kind}: {outcome.detail}"
        try:
            return state.check(outcome.move), ""
        except IllegalMove as error:
            return moves[0], f"illegal: {error.detail}"


def fill_seats(wanted: Sequence[str], count: int) -> list[str]:
    """The bots at `count` seats: the wanted in order, over and over if they are too few."""
    chosen = list(wanted) or list(DEFAULT)
    return [chosen[index % len(chosen)] for index in range(count)]


def parse_bots(wanted: Sequence[str]) -> list[Bot]:
    """Bots by the name of a reference bot, by URL, or by command; StartError, a sentence, if one is
    none of these."""
    try:
        return [parse_bot(text) for text in wanted]
    except ValueError as error:
        raise StartError(str(error)) from error


def gather(
    bots: Sequence[Bot], clock: Clock, launch: LaunchSettings, stack: ExitStack
) -> list[Opponent]:
    """Start or reach each bot; the stack ends them. StartError, a sentence, if one is not there."""
    match = secrets.token_hex(4)
    opponents = []
    for bot in bots:
        reached = _reach(bot, launch)
        stack.callback(reached.close)
        opponents.append(Opponent(bot.name, reached, clock, match))
    return opponents


def _reach(bot: Bot, launch: LaunchSettings) -> HttpBot:
    """A connection to a bot, which is started if it is given by a command; StartError."""
    if bot.url is None:
        return start(bot, launch)
    try:
        dial = dial_url(bot.url)
        dial(monotonic() + _CONNECT_S).close()
    except OSError as error:
        why = error.strerror or "no answer"
        raise StartError(f"{bot.name}: {why}; start the bot, or fix its address.") from error
    return HttpBot(bot.url, dial)
