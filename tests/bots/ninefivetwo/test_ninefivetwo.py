"""The strategy of 9-5-2: tricks and trumps."""

from __future__ import annotations

from typing import Any

import games
from bots import sensible
from bots.cards import SUITS
from bots.ninefivetwo import tricks
from games.ninefivetwo.trick import DECK


def cards(text: str) -> int:
    return DECK.hand([text[i : i + 2] for i in range(0, len(text), 2)])


def trick_card(hand: str, trick: str, trump: str, unseen: str, voids: int = 0) -> str:
    played = [DECK.number[trick[i : i + 2]] for i in range(0, len(trick), 2)]
    card = tricks.choose_card(cards(hand), played, SUITS.index(trump), cards(unseen), voids)
    return DECK.names[card]


def test_tricks() -> None:
    # Last to play: the cheapest card that wins, the lowest if none does.
    assert trick_card("3hTh", "7h9h", "s", "2hAh") == "Th"
    assert trick_card("3h8h", "7h9h", "s", "2hAh") == "3h"
    # No card of the suit: the lowest trump that wins, else what is of least use.
    assert trick_card("3s4sAdKc", "7h9h", "s", "2hAh") == "3s"
    assert trick_card("2c3dAd", "7h9h", "s", "2hAh") == "2c"
    # Second: a high card only if it is likely to win.
    assert trick_card("3hAh", "7h", "s", "8hKh") == "Ah"
    assert trick_card("3hTh", "7h", "s", "8hJhKh") == "3h"
    assert trick_card("3hAh", "7h", "s", "8dKd2s", voids=1 << SUITS.index("h")) == "3h"
    # Leading: cards that nothing beats while they are not ruffed.
    assert trick_card("AhTd2c", "", "s", "2h3h4h5h6hJdQdAc3s") == "Ah"


def test_names_its_strong_long_suit() -> None:
    hand = "AcKcQc5c4c2c3d5d3h4h5h6h7h8h2s3s"
    state = games.get("ninefivetwo").start(3, "t", {}).to_dict()
    dealt = [hand[i : i + 2] for i in range(0, len(hand), 2)]
    view: dict[str, Any] = games.get("ninefivetwo").start(3, "t", {}).view(0).to_dict()
    assert state["turn"] == 0
    view["hand"] = dealt
    choice = sensible.move(view, ["trump:c", "trump:d", "trump:h", "trump:s"])
    assert choice == "trump:c"
