"""The reference bots in whole games: legal everywhere, and always the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import games
from bots import cards, greedy, search, sensible
from bots import random as random_bot

Move = Callable[[Any, Any], str]

TABLES = [
    (game.name, players)
    for game in games.GAMES.values()
    for players in range(game.min_players, game.max_players + 1)
]
BOTS: dict[str, Move] = {
    "random": random_bot.move,
    "greedy": greedy.move,
    "sensible": sensible.move,
    "search": search.with_iterations(2),
}
VECTORS = Path(__file__).parents[1] / "vectors"


def options(game: str) -> dict[str, object]:
    deals = {"ninefivetwo": 3, "zhengfen": 2}.get(game, 2)
    return {"deals": deals}


def play(game: str, players: int, seed: str, seats: Sequence[Move]) -> list[str]:
    """The moves of a game; `advance` refuses what is illegal."""
    state = games.get(game).start(players, seed, options(game))
    made = []
    while state.turn is not None:
        # As it comes over the wire: no tuples, nothing shared.
        view = json.loads(json.dumps(state.view(state.turn).to_dict()))
        moves = state.moves().texts()
        before = json.dumps(view)
        made.append(seats[state.turn](view, moves))
        assert json.dumps(view) == before, "a bot must leave its request alone"
        state = state.advance(made[-1])
    return made


@pytest.mark.parametrize(("game", "players"), TABLES)
@pytest.mark.parametrize("name", ["random", "greedy", "sensible"])
def test_plays_whole_games_and_always_the_same(name: str, game: str, players: int) -> None:
    for seed in range(3):
        first = play(game, players, f"whole-{seed}", [BOTS[name]] * players)
        assert first == play(game, players, f"whole-{seed}", [BOTS[name]] * players)


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_search_plays_whole_games_and_always_the_same(game: str, players: int) -> None:
    seats = [BOTS["search"], *[BOTS["greedy"]] * (players - 1)]
    first = play(game, players, "search", seats)
    assert first == play(game, players, "search", seats)


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_all_at_one_table(game: str, players: int) -> None:
    seats = [BOTS[name] for name in ("random", "greedy", "sensible", "search")]
    for start in range(2):
        play(game, players, "mixed", [seats[(start + seat) % 4] for seat in range(players)])


def recorded() -> Iterator[tuple[str, dict[str, Any]]]:
    for entry in json.loads((VECTORS / "positions.json").read_text()):
        yield entry["why"], entry["state"]


@pytest.mark.parametrize("name", BOTS)
@pytest.mark.parametrize(("why", "position"), list(recorded()))
def test_set_up_positions(name: str, why: str, position: dict[str, Any]) -> None:
    game = games.get(position["game"])
    state = game.state(position)
    if state.turn is None:
        return
    move = BOTS[name](state.view(state.turn).to_dict(), state.moves().texts())
    state.advance(move)


def test_random_is_spread_over_the_moves() -> None:
    state = games.get("doudizhu").start(3, "spread", {})
    view = state.view(0).to_dict()
    moves = [str(number) for number in range(4)]
    chosen = {random_bot.move({**view, "deal": deal}, moves) for deal in range(60)}
    assert chosen == set(moves)


@pytest.mark.parametrize("game", cards.ORDER)
def test_the_kit_knows_the_decks(game: str) -> None:
    rules = games.get(game)
    for players in range(rules.min_players, rules.max_players + 1):
        deck = rules.deck(players)
        assert sorted(cards.full_deck(game, players)) == sorted(deck.cards)
        ranks = [cards.VALUE[game][cards.rank_of(card)] for card in deck.cards]
        half = len(ranks) // deck.packs
        assert ranks[:half] == sorted(ranks[:half])


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_unseen_cards_are_the_hidden_ones(game: str, players: int) -> None:
    state = games.get(game).start(players, "unseen", options(game))
    while state.turn is not None:
        wire = state.to_dict()
        for seat in range(players):
            view = state.view(seat).to_dict()
            hidden = [
                card for other, hand in enumerate(wire["hands"]) if other != seat for card in hand
            ]
            if state.phase in ("auction", "exchange", "trump"):
                hidden += wire["talon"]
            if game == "ninefivetwo":
                hidden += wire["discards"] if "??" in view["discards"] else []
                for owed, seen in zip(wire["owed"], view["owed"], strict=True):
                    hidden += owed["given"] if "??" in seen["given"] else []
            assert sorted(cards.unseen(view)) == sorted(hidden)
        state = state.advance(
            random_bot.move(state.view(state.turn).to_dict(), state.moves().texts())
        )
