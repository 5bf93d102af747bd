"""The bots that a person plays against: started or called, and moved for where they fail."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from contextlib import ExitStack

from games import IllegalMove
from games.game import State
from games.move import Move
from tournament.bot.player import Failure, HttpBot, dial_url
from tournament.bot.process import LaunchSettings, StartError, start
from tournament.config import HOUSE_BOTS, Clock, Limits

PROTOCOL = 1
DEFAULT = ("sensible", "greedy")


STRIKES = 3
"""As in a cup whose organiser does not say otherwise."""


class Opponent:
    """A bot at a seat, with a bank of time and some strikes for the whole game."""

    def __init__(self, name: str, bot: HttpBot, clock: Clock, match: str) -> None:
        self.name = name
        self._bot = bot
        self._match = match
        self._strikes = 0
        self._move_ms = clock.move_ms
        self._bank_ms = float(clock.bank_ms)
        self._turn = 0

    def begin(self, state: State, seat: int) -> None:
        """Tell it that the game begins."""
        clock = {"move_ms": self._move_ms, "bank_ms": int(self._bank_ms)}
        self._tell("/start", state, seat, players=state.players, options=state.options, clock=clock)

    def end(self, state: State, seat: int) -> None:
        """Tell it how the game ended."""
        self._tell("/end", state, seat, scores=state.scores)

    def _tell(self, path: str, state: State, seat: int, **more: object) -> None:
        if self.out:
            return
        head = {"protocol": PROTOCOL, "match": self._match, "game": state.game.name, "seat": seat}
        self._bot.tell(path, json.dumps({**head, **more}).encode("ascii"), self._move_ms / 1000)

    @property
    def out(self) -> bool:
        """Whether it has had all its strikes: it is asked no more, the house plays for it."""
        return self._strikes >= STRIKES

    def move(self, state: State, seat: int) -> tuple[Move, str]:
        """Its move, or the house's with a sentence that says what the bot did wrong; no sentence
        where it is out."""
        if self.out:
            return state.moves()[0], ""
        move, fault = self._asked(state, seat)
        self._strikes += bool(fault)
        if fault and self._strikes == STRIKES:
            fault += f" That was strike {STRIKES} of {STRIKES}: it is asked no more in this game."
        return move, fault

    def _asked(self, state: State, seat: int) -> tuple[Move, str]:
        self._turn += 1
        view = state.view(seat)
        moves = view.moves()
        body = json.dumps(
            {
                "protocol": PROTOCOL,
                "match": self._match,
                "turn": self._turn,
                "view": view.to_dict(),
                "moves": moves.texts(),
                "clock": {"move_ms": self._move_ms, "bank_ms": int(self._bank_ms)},
            }
        ).encode("ascii")
        try:
            choice = self._bot.move(body, (self._move_ms + self._bank_ms) / 1000)
        except Failure as error:
            self._charge(error.elapsed_s)
            return moves[0], f"{error.kind}: {error.detail}"
        self._charge(choice.elapsed_s)
        try:
            return state.check(choice.move), ""
        except IllegalMove as error:
            return moves[0], f"illegal: {error.detail}"

    def _charge(self, elapsed_s: float) -> None:
        over_ms = max(0.0, elapsed_s * 1000 - self._move_ms)
        self._bank_ms = max(0.0, self._bank_ms - over_ms)


def seated(wanted: Sequence[str], count: int) -> list[str]:
    """Who sits at `count` seats: the wanted in order, over and over if they are too few."""
    chosen = list(wanted) or list(DEFAULT)
    return [chosen[index % len(chosen)] for index in range(count)]


def _is_url(bot: str) -> bool:
    return bot.startswith(("http://", "https://"))


def gather(wanted: Sequence[str], clock: Clock, stack: ExitStack) -> list[Opponent]:
    """Start or reach each bot; the stack ends them. StartError, a sentence, if one is not there.

    A bot is the name of a house bot, a URL, or a command.
    """
    launch = LaunchSettings(Limits(), clock.start_ms)
    match = secrets.token_hex(4)
    opponents = []
    for bot in wanted:
        if _is_url(bot):
            try:
                reached = HttpBot(bot, dial_url(bot))
            except (OSError, ValueError) as error:
                raise StartError(f"{bot}: {error}.") from error
            stack.callback(reached.close)
            opponents.append(Opponent(bot, reached, clock, match))
            continue
        command = f"python -m bots.{bot}" if bot in HOUSE_BOTS else bot
        started = start(bot, command, launch)
        stack.callback(started.close)
        opponents.append(Opponent(bot, started, clock, match))
    return opponents
