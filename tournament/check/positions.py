"""The positions that a check asks about, from "recorded games".

These are games of random moves, the same for every bot, which are played when first needed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest

import games
from games import State
from games.game import Game, JsonDict, Value
from games.shuffle import Randomness
from tournament.bot.about import Scope
from tournament.sampling import spread

_DEALS: Mapping[str, Value] = {"deals": 3}
"""Enough deals for every phase, since 9-5-2 has its exchange only from the second deal on."""

OPTIONS: Mapping[str, Sequence[Mapping[str, Value]]] = {
    "doudizhu": (
        _DEALS,
        {**_DEALS, "quad_pair_as_solos": True, "spring": True, "reveal_talon": True},
        {**_DEALS, "redeals": 0, "spring": True},
        {**_DEALS, "redeals": 1, "reveal_talon": True, "single_round": True},
    ),
    "dasan": (_DEALS, {**_DEALS, "reveal_talon": True, "open_higher": True}) * 2,
    "zhengfen": (_DEALS, {**_DEALS, "target": 100}) * 3,
    "ninefivetwo": (_DEALS, {**_DEALS, "target": 20}) * 2,
}
"""The options of each game that is recorded for each number of players. There are more games where
cards that can be read in two ways are rare. A game that is missing here is recorded twice."""


@dataclass(frozen=True, slots=True)
class Question:
    """A position in which a bot is asked for a move.

    `situation` describes the position in the same words as all similar positions. `view` and
    `moves` are the fields of the request. `position` is the state, used to judge an answer.
    `played` is the name of the recorded game, and `scores` are its final scores by seat.
    """

    situation: str
    view: JsonDict
    moves: Sequence[str]
    position: State
    played: str
    scores: Sequence[int]

    @property
    def seat_in_record(self) -> tuple[str, int]:
        """The name of the recorded game, and the seat. Questions that share both form a match."""
        return self.played, self.view["seat"]


def _situation(view: JsonDict, moves: Sequence[str]) -> str:
    words = [f"{view['players']} players", str(view["phase"])]
    table = view.get("table")
    if table is not None:
        words.append("own play on the table" if table["seat"] == view["seat"] else "following")
    elif view["phase"] == "play":
        words.append("in a trick" if view.get("trick") else "leading")
    if any("=" in move for move in moves):
        words.append("cards that can be read in two ways")
    return ", ".join(words)


def _question(state: State, played: str, scores: Sequence[int]) -> Question:
    view = state.view(state.turn)
    wire = view.to_dict()
    moves = view.moves().texts()
    return Question(_situation(wire, moves), wire, moves, state, played, scores)


def _played(game: Game, players: int, number: int, options: Mapping[str, Value]) -> list[Question]:
    """Play the random game `number`, the same every time. Return a question for each position with
    several legal moves, in order of play."""
    name = f"check-{game.name}-{players}-{number}"
    random = Randomness(name, 1)
    state = game.start(players, name, options)
    states = []
    while state.turn is not None:
        moves = state.moves()
        if len(moves) > 1:  # runners do not ask for the only legal move
            states.append(state)
        state = state.advance(moves[random.below(len(moves))])
    return [_question(position, name, state.scores) for position in states]


@cache
def _recorded(scope: Scope) -> Sequence[Question]:
    """Return the questions of a scope's recorded games, sorted by game, seat and order of play."""
    game = games.get(scope.game)
    recorded: list[Question] = []
    for players in scope.players:
        for number, options in enumerate(OPTIONS.get(scope.game, (_DEALS, _DEALS))):
            played = _played(game, players, number, scope.fit(options, number))
            recorded += sorted(played, key=lambda question: question.seat_in_record)
    return recorded


def questions(scope: Scope, wanted: int) -> list[Question]:
    """Return up to `wanted` questions from the recorded games of a scope, the same every time.

    The questions are sorted by game, then by seat, then in order of play. No situation occurs twice
    unless all situations occur. Fewer are returned only if the recorded games have fewer.
    """
    recorded = _recorded(scope)
    groups: dict[str, list[int]] = {}
    for place, question in enumerate(recorded):
        groups.setdefault(question.situation, []).append(place)
    per_situation = 1
    while sum(min(per_situation, len(group)) for group in groups.values()) < min(
        wanted, len(recorded)
    ):
        per_situation += 1
    chosen = [spread(group, per_situation) for group in groups.values()]
    mixed = [place for places in zip_longest(*chosen) for place in places if place is not None]
    return [recorded[place] for place in sorted(mixed[:wanted])]


def openings(scope: Scope) -> list[Question]:
    """Return each seat's first question, if any, in each recorded game, sorted by game and seat."""
    first: dict[tuple[str, int], Question] = {}
    for question in _recorded(scope):
        first.setdefault(question.seat_in_record, question)
    return list(first.values())


_RICHEST = "zhengfen", 3, "3c3d3h3s4c4d4h4s5c5d5h5s6c6d6h6sBjRj"
"""A game, a number of players, and a leader's hand with 31,122 legal moves, found by search."""


def longest(scope: Scope) -> Question:
    """Return the known question in a scope with the longest list of legal moves.

    In a scope of `zhengfen` with three players, the question does not come from a recorded game,
    and its scores are 0.
    """
    richest, players, written = _RICHEST
    if scope.game != richest or players not in scope.players:
        return max(_recorded(scope), key=lambda question: len(question.moves))
    game = games.get(richest)
    hand = [written[i : i + 2] for i in range(0, len(written), 2)]
    others = [card for card in game.deck(players).cards if card not in hand]
    state = game.start(players, "check", scope.fit({})).to_dict()
    state["hands"] = [hand, *([card] for card in others[: players - 1])]
    state |= {"turn": 0, "first": 0}
    return _question(game.state(state), f"check-{richest}-longest", [0] * players)
