"""Bad bodies have documented answers; `benchmarks/service/worst_bodies.py` measures their cost."""

from __future__ import annotations

import pytest

import games
from benchmarks.service import worst_bodies

SIZE = 25_000


def test_every_bad_body_has_a_documented_answer() -> None:
    client = worst_bodies.client()
    for operation, what, body in worst_bodies.bodies(SIZE):
        path = f"/v1/{operation}"
        status = client.post(path, data=body, content_type="application/json").status_code
        assert status in (200, 400, 403, 422), what


@pytest.mark.parametrize("players", [3, 4])
def test_the_texts_of_a_long_list_are_those_of_its_moves(players: int) -> None:
    """They are made in another way, which is faster."""
    game = games.get("doudizhu")
    state = game.start(players, "texts", {"quad_pair_as_solos": True} if players == 3 else {})
    while state.phase != "play":
        state = state.advance(state.moves()[-1])
    deck = list(game.deck(players).cards)
    hands = [[deck.pop(0)] for _ in range(players)]
    hands[state.turn or 0] = deck[:60]
    data = {**state.to_dict(), "hands": hands, "talon": [], "exposed": None, "history": []}
    listed = game.state(data).moves()
    assert len(listed) > 1000
    assert listed.texts() == [move.text for move in listed]
