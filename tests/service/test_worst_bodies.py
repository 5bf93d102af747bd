"""Bad bodies cost little: what is too much is refused before it is looked at.

`benchmarks/service/worst_bodies.py` measures their processor time; here it is counted what is done.
"""

from __future__ import annotations

from typing import Any

import pytest

import games
from benchmarks.service import worst_bodies
from games.climbing.trick import check_talon
from games.zhengfen import move_list
from service.schemas.list_fields import MAX_MOVES
from tests.games.zhengfen.positions import wire
from tests.service.support import Service

SIZE = 25_000
STATE = games.get("doudizhu").start(3, "worst", {}).to_dict()


class Counter:
    """Counts how often it is called."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, *_: Any) -> Any:
        self.calls += 1
        raise AssertionError("this should not be called")


def test_every_bad_body_has_a_documented_answer() -> None:
    client = worst_bodies.client()
    for operation, what, body in worst_bodies.bodies(SIZE):
        path = f"/v1/{operation}"
        status = client.post(path, data=body, content_type="application/json").status_code
        assert status in (200, 400, 403, 422), what


def test_too_many_moves_are_refused_before_one_is_made(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    advance = Counter()
    monkeypatch.setattr(type(games.get("doudizhu").start(3, "x", {})), "advance", advance)
    for number in (MAX_MOVES + 1, 100_000):
        refused = service.post("/v1/advance", {"state": STATE, "moves": ["pass"] * number})
        assert refused["code"] == "invalid-request"
    assert advance.calls == 0


def test_a_long_move_is_refused_before_it_is_read(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = Counter()
    monkeypatch.setattr("games.position.parse", parse)
    move = "play:" + "3c" * 500_000
    for path, part in (("validate", {"move": move}), ("advance", {"moves": [move]})):
        assert service.post(f"/v1/{path}", {"state": STATE, **part})["code"] == "invalid-request"
    assert parse.calls == 0


def test_a_list_that_is_too_long_is_counted_and_not_made(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = Counter()
    monkeypatch.setattr(move_list, "texts_of", texts)
    cards = "".join(rank + suit for rank in "456789TJQKA2" for suit in "cdhs")
    refused = service.post("/v1/moves", {"state": wire([cards + "BjRj", "3c", "3d"])})
    assert refused["code"] == "invalid-state"
    assert texts.calls == 0


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


class CountedCard(str):
    """A card that counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        CountedCard.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_a_long_talon_is_not_compared_with_each_card_of_a_long_hand() -> None:
    problems: list[str] = []
    hand: list[str] = [CountedCard("4c") for _ in range(1000)]
    talon: list[str] = [CountedCard("5c") for _ in range(1000)]
    check_talon(problems, games.get("doudizhu").deck(3), {0: hand}, talon, 0, None)
    assert problems
    assert CountedCard.compared < 10_000
