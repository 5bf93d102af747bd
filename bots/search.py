"""A bot that looks ahead: ``python -m bots.search``.

For each decision it deals the unseen cards at random, as the view allows, and plays every
promising move to the end of the deal in that world, with a cheap player in all seats; then in
the next world. The move that did best is played; the sensible bot's choice keeps the benefit of
the doubt. This is determinized Monte-Carlo search of depth one, with worlds in common.
"""

from __future__ import annotations

import hashlib
import importlib
import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any

import games
from bots import kit, sensible
from bots.cards import ORDER
from bots.thinking import worlds
from bots.thinking.bidding import Bidding

View = Mapping[str, Any]

SHARE = 0.4
"""How much of `move_ms` is thought: the rest is for the way, and for a busy machine."""

MOST_SECONDS = 2.0
MOST_MOVES = 10
"""So many moves are looked at: those that the sensible bot ranks highest."""

ROUND = 8
"""After so many worlds moves that have fallen behind are dropped."""

DRAWS = 4
"""So many worlds are drawn at most to find one that the bidding fits."""

BEHIND = 2.5
"""A move is dropped when it is worse than the best by so many standard errors."""

BETTER = 1.0
"""A move must be better than the sensible bot's by so many standard errors to replace it."""


def move(view: View, moves: Sequence[str], clock: Mapping[str, int]) -> str:
    """The move found within the clock; its time counts from here."""
    until = time.monotonic() + min(MOST_SECONDS, SHARE * clock["move_ms"] / 1000)
    return _Search(view, moves).run(lambda done: time.monotonic() < until)


def search(view: View, moves: Sequence[str], *, iterations: int) -> str:
    """The move found with so many worlds, always the same one for the same position."""
    return _Search(view, moves).run(lambda done: done < iterations)


def with_iterations(iterations: int) -> Callable[[View, Sequence[str]], str]:
    """A `move` function that does not look at the clock, for results that can be repeated."""

    def move(view: View, moves: Sequence[str]) -> str:
        return search(view, moves, iterations=iterations)

    return move


class _Search:
    """One decision."""

    def __init__(self, view: View, moves: Sequence[str]) -> None:
        self.view = view
        self.candidates = shortlist(view, moves)
        self.values: dict[str, list[float]] = {text: [] for text in self.candidates}
        self.bidding: Bidding | None = None
        if view["phase"] == "play" and "declarer" in view:
            strategy = sensible.strategy(view["game"])
            self.bidding = Bidding(view, strategy.chance, strategy.BID_LEVELS)

    def run(self, more: Callable[[int], bool]) -> str:
        """Search while `more(worlds done)` is true; the best move."""
        candidates = self.candidates
        if len(candidates) == 1:
            return candidates[0]
        chance = random.Random(_digest(self.view))  # noqa: S311 (no secret)
        knowledge = worlds.know(self.view)
        game = games.get(self.view["game"])
        finisher = _playout(self.view["game"])
        alive = list(candidates)
        done = 0
        while len(alive) > 1 and more(done):
            try:
                state = game.state(self._world(knowledge, chance))
            except games.InvalidState:
                # A set-up position that no deal leads to: nothing to search in.
                return candidates[0]
            for text in alive:
                end = finisher.finish(state.advance(text))
                self.values[text].append(finisher.value(state, end, self.view["seat"]))
            done += 1
            if done % ROUND == 0:
                alive = self._still_good(alive)
        return self._verdict(alive) if done else candidates[0]

    def _world(self, knowledge: worlds.Knowledge, chance: random.Random) -> dict[str, Any]:
        """One world; where there was an auction, of a few the one it speaks for most."""
        world = worlds.sample(self.view, knowledge, chance)
        if self.bidding:
            misfit = self.bidding.misfit(world["hands"])
            for _ in range(DRAWS - 1):
                if not misfit:
                    break
                other = worlds.sample(self.view, knowledge, chance)
                its_misfit = self.bidding.misfit(other["hands"])
                if its_misfit < misfit:
                    world, misfit = other, its_misfit
        return world

    def _still_good(self, alive: list[str]) -> list[str]:
        leader = max(alive, key=lambda text: _mean(self.values[text]))
        return [text for text in alive if self._lead(leader, text) < BEHIND]

    def _verdict(self, alive: list[str]) -> str:
        leader = max(alive, key=lambda text: _mean(self.values[text]))
        first = self.candidates[0]
        return leader if first not in alive or self._lead(leader, first) >= BETTER else first

    def _lead(self, better: str, worse: str) -> float:
        """By how many standard errors of the paired difference one move is ahead of another."""
        pairs = zip(self.values[better], self.values[worse], strict=True)
        differences = [a - b for a, b in pairs]
        count = len(differences)
        mean = _mean(differences)
        if mean <= 0 or count < 2:
            return 0.0
        spread = sum([(value - mean) ** 2 for value in differences]) / (count - 1)
        # A difference seen in every one of few worlds is no certainty yet.
        return mean / math.sqrt((spread + 0.25 * mean * mean) / count)


def shortlist(view: View, moves: Sequence[str]) -> list[str]:
    """The moves worth a search, the sensible bot's choice first."""
    if len(moves) == 1:
        return list(moves)
    if view["phase"] == "play":
        ranked: list[tuple[float, str]] = sensible.strategy(view["game"]).rank_moves(view, moves)
        return [text for _, text in ranked[:MOST_MOVES]]
    choice = sensible.move(view, moves)
    if view["phase"] == "auction":
        # The fitted chances know more of an auction than the cheap players do.
        return [choice]
    others = [text for text in moves if text != choice]
    return [choice, *others[: MOST_MOVES - 1]]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _digest(view: View) -> int:
    position = (view["seat"], view["deal"], view["hand"], view["history"], view["scores"])
    return int.from_bytes(hashlib.sha256(repr(position).encode()).digest()[:8], "big")


@cache
def _playout(game: str) -> ModuleType:
    return importlib.import_module(f"bots.{game}.playout")


def main() -> None:
    """Serve the bot."""
    kit.run(move, name="search", version="1.0", games=list(ORDER))


if __name__ == "__main__":
    main()
