"""Positions that a bot is asked in a check: the same ones for everybody, made by random play.

They are kept in code, not in files: whole games are played by the words of `games.dealing`, and
of each situation (players, phase, leading or following, forced or not) some positions are taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, zip_longest
from typing import Any

import games
from games.dealing import Randomness
from games.game import Game, State

DEALS = 3
"""Deals of each game that is played: enough for every phase (9-5-2 exchanges from the second)."""

OPTIONS: Mapping[str, object] = {"deals": DEALS}


@dataclass(frozen=True, slots=True)
class Question:
    """One position as a bot sees it.

    `situation` says in words what is asked; `view` and `moves` are the wire forms of a request,
    `position` decides on answers.
    """

    situation: str
    view: Mapping[str, Any]
    moves: Sequence[str]
    position: State


def _situation(view: Mapping[str, Any], count: int) -> str:
    """What a position is like, in words that put like with like."""
    words = [f"{view['players']} players", str(view["phase"])]
    table = view.get("table")
    if table is not None:
        words.append("own play on the table" if table["seat"] == view["seat"] else "following")
    elif view["phase"] == "play":
        words.append("in a trick" if view.get("trick") else "leading")
    if count == 1:
        words.append("one legal move")
    return ", ".join(words)


def question(state: State) -> Question:
    """What the seat to move is asked; ValueError when the game is over."""
    if state.turn is None:
        raise ValueError("The game is over: nobody is asked.")
    view = state.view(state.turn)
    wire = view.to_dict()
    moves = [move.text for move in view.moves()]
    return Question(
        situation=_situation(wire, len(moves)),
        view=wire,
        moves=moves,
        position=state,
    )


def _played(game: Game, players: int, number: int) -> Iterator[State]:
    """Every position of one random game."""
    name = f"check-{game.name}-{players}-{number}"
    words = Randomness(name, 1)
    state = game.start(players, name, OPTIONS)
    while state.turn is not None:
        yield state
        moves = state.moves()
        state = state.advance(moves[words.below(len(moves))])


@cache
def _by_situation(name: str) -> Mapping[str, Sequence[Question]]:
    """Every position of some random games, like with like."""
    game = games.get(name)
    found: dict[str, list[Question]] = {}
    for players in range(game.min_players, game.max_players + 1):
        for number in range(2):
            for state in _played(game, players, number):
                asked = question(state)
                found.setdefault(asked.situation, []).append(asked)
    return found


def _spread(group: Sequence[Question], wanted: int) -> list[Question]:
    """At most `wanted` of a group, evenly from its beginning to its end."""
    if len(group) <= wanted:
        return list(group)
    return [group[index * len(group) // wanted] for index in range(wanted)]


def questions(name: str, wanted: int) -> list[Question]:
    """About `wanted` positions of a game, each situation represented before any comes twice.

    Always the same ones for the same arguments. UnknownGame if there is no such game.
    """
    groups = _by_situation(name)
    each = -(-wanted // len(groups))
    spread = [_spread(group, each) for group in groups.values()]
    mixed = chain.from_iterable(zip_longest(*spread))
    return [asked for asked in mixed if asked is not None][:wanted]


_RICH_HANDS: Mapping[str, tuple[int, str]] = {
    "doudizhu": (3, "3h4d5c5h5s6d6h6s7c7d7h8c8h8s9sTcJsQsKsAd"),
    "dasan": (3, "4c4h5h5s6c6s7h7s8d8h9h9sTdTsJdJsQhQsKcKs"),
    "zhengfen": (3, "3c3d3h3s4c4d4h4s5c5d5h5s6c6d6h6sBjRj"),
}
"""Players, and the hand of a leader, found by search, with more legal moves than random deals
bring: 497, 92 and 31,122. In 9-5-2 a hand of twenty cards has twenty."""


def longest(name: str) -> Question:
    """The position of a game with the longest list of moves that is known here."""
    if name not in _RICH_HANDS:
        groups = _by_situation(name)
        return max(chain.from_iterable(groups.values()), key=lambda asked: len(asked.moves))
    players, written = _RICH_HANDS[name]
    game = games.get(name)
    hand = [written[i : i + 2] for i in range(0, len(written), 2)]
    others = [card for card in game.deck(players).cards if card not in hand]
    state = game.start(players, "check", {}).to_dict()
    state["hands"] = [hand, *([card] for card in others[: players - 1])]
    state |= {"phase": "play", "turn": 0, "first": 0, "history": [], "table": None, "passes": 0}
    if "declarer" in state:
        state |= {"declarer": 0, "bid": 1, "talon": []}
    if "exposed" in state:
        state["exposed"] = None
    return question(game.state(state))
