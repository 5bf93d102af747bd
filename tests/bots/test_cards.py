"""What bots read off a view: decks, and the cards that are unseen."""

import pytest

import games
from bots import cards
from bots import random as random_bot
from tests.support.random_games import TABLES


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_unseen_cards_are_the_hidden_ones(game: str, players: int) -> None:
    state = games.get(game).start(players, "unseen", {"deals": 2})
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
