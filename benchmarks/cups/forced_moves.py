"""Requests that a match needs if forced moves are asked for, and if they are not.

Usage: python -m benchmarks.cups.forced_moves [MATCHES]
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any

import games
from bots import kit
from tournament.bot.url_bot import Choice, StandIn
from tournament.config import Clock
from tournament.match.match import Pairing, Rules, play
from tournament.match.referee import LocalReferee

MATCHES = 60


class Sensible(StandIn):
    """The sensible bot in this process."""

    url = "in this process"

    def __init__(self) -> None:
        self._decide = kit.adapt(import_module("bots.sensible").move)

    def move(self, body: bytes, seconds: float) -> Choice:
        """Its move."""
        request: dict[str, Any] = json.loads(body)
        return Choice(self._decide(request), 0.0)


def requests(game: str, matches: int, ask_forced: bool) -> int:
    """The requests of some matches of one deal, with the sensible bot at every seat."""
    players = games.get(game).min_players
    rules = Rules(game, players, {"deals": 1}, Clock(ask_forced=ask_forced))
    bots = [Sensible()] * players
    total = 0
    for number in range(matches):
        pairing = Pairing.alone("m", [f"seat {seat}" for seat in range(players)], f"deal {number}")
        total += sum(map(len, play(rules, pairing, LocalReferee(), bots).times))
    return total


def main(matches: int = MATCHES) -> None:
    """Print a line for each game."""
    for game in games.GAMES:
        before, after = (requests(game, matches, ask_forced) for ask_forced in (True, False))
        print(f"{game:12} {before / matches:7.1f} {after / matches:7.1f} {before / after:5.2f} x")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
