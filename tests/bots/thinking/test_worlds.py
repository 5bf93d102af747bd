"""Worlds for the search: states that the seat cannot tell from the true one."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

import games
from bots import cards, sensible
from bots import random as random_bot
from bots.thinking import worlds
from bots.thinking.worlds import NOWHERE, Knowledge

TABLES = [
    (game.name, players)
    for game in games.GAMES.values()
    for players in range(game.min_players, game.max_players + 1)
]
# A world is cut down to this deal and does not repeat what is only history.
CUT = ("history", "options", "exchanged", "talon")


@pytest.mark.parametrize(("game", "players"), TABLES)
@pytest.mark.parametrize("bot", [random_bot.move, sensible.move])
def test_a_world_looks_like_the_truth_from_the_seat(game: str, players: int, bot: Any) -> None:
    chance = random.Random(5)
    rules = games.get(game)
    state = rules.start(players, "worlds", {"deals": 3 if game == "ninefivetwo" else 1})
    while state.turn is not None:
        seat = state.turn
        view = state.view(seat).to_dict()
        knowledge = worlds.know(view)
        assert knowledge.room[NOWHERE] == 0
        world = rules.state(worlds.sample(view, knowledge, chance))
        seen = world.view(seat).to_dict()
        for field in view.keys() - set(CUT):
            assert seen[field] == view[field], field
        assert world.moves().texts() == state.moves().texts()
        truth = state.to_dict()
        for card, places in knowledge.allowed:
            holders = {place for place in places if place >= 0}
            holders = {place for place in holders if card in truth["hands"][place]}
            face_down = {place for place in places if place < 0}
            # 3 players, Dasan: the lowest heart may have been in the talon after all.
            assert holders or face_down or (game == "dasan" and players == 3 and card[1] == "h")
        state = state.advance(bot(view, state.moves().texts()))


def test_every_card_has_its_place() -> None:
    state = games.get("doudizhu").start(4, "all", {})
    state = state.advance("bid:3")
    view = state.view(0).to_dict()
    world = worlds.sample(view, worlds.know(view), random.Random(1))
    held = Counter(card for hand in world["hands"] for card in hand)
    assert held == Counter(cards.full_deck("doudizhu", 4))


def ninefivetwo_view() -> dict[str, Any]:
    """Late in a deal: seat 1 has not followed hearts, seat 2 has not followed clubs."""
    plays = [(0, "2h"), (1, "3d"), (2, "4h"), (0, "5c"), (1, "6c"), (2, "7d")]
    return {
        "game": "ninefivetwo", "players": 3, "options": {"target": 15, "deals": 1}, "deal": 1,
        "dealer": 0, "phase": "play", "turn": 0, "scores": [0, 0, 0], "results": [],
        "targets": [9, 5, 2], "talon": [], "trump": "s", "owed": [], "exchanged": [],
        "discards": ["2c", "3c", "4c", "2d"], "trick": [], "tricks": [2, 0, 0], "seat": 0,
        "history": [{"seat": seat, "move": f"play:{card}"} for seat, card in plays],
        "hand": [], "counts": [14, 14, 14],
    }  # fmt: skip


def test_voids_are_kept_however_tight() -> None:
    """All hearts but one must be with seat 2, all clubs with seat 1: next to nothing is free."""
    view = ninefivetwo_view()
    hearts = [rank + "h" for rank in "356789TJQKA"]
    clubs = [rank + "c" for rank in "789TJQKA"]
    rest = [card for card in cards.unseen(view) if card not in hearts + clubs]
    view["hand"] = rest[:14]
    for seed in range(20):
        world = worlds.sample(view, worlds.know(view), random.Random(seed))
        assert set(hearts) <= set(world["hands"][2])
        assert set(clubs) <= set(world["hands"][1])
        assert [len(hand) for hand in world["hands"]] == [14, 14, 14]


def test_a_dead_end_is_resolved_by_matching() -> None:
    """Dealing at random fails nearly always here: one way in 20 choose 10 is right."""
    allowed = [(f"{n}x", frozenset({0, 1})) for n in range(10)]
    allowed += [(f"{n}y", frozenset({0})) for n in range(10)]
    knowledge = Knowledge({0: 10, 1: 10}, allowed, [])
    for seed in range(5):
        piles = worlds._deal(knowledge, random.Random(seed))
        assert sorted(piles[0]) == sorted(f"{n}y" for n in range(10))


def test_what_cannot_be_satisfied_is_dealt_all_the_same() -> None:
    knowledge = Knowledge({0: 1, 1: 1}, [("a", frozenset({0})), ("b", frozenset({0}))], [])
    piles = worlds._deal(knowledge, random.Random(1))
    assert sorted(piles[0] + piles[1]) == ["a", "b"]


def test_the_exposed_card_is_where_it_was_drawn() -> None:
    for number in range(6):
        state = games.get("doudizhu").start(3, f"exposed-{number}", {})
        wire = state.to_dict()
        seat = (wire["first"] + 1) % 3
        view = state.view(seat).to_dict()
        for seed in range(5):
            world = worlds.sample(view, worlds.know(view), random.Random(seed))
            assert wire["exposed"] in world["hands"][wire["first"]]


def test_the_called_card_is_not_with_its_caller() -> None:
    state = games.get("dasan").start(4, "called", {})
    while state.phase != "play":
        state = state.advance(state.moves()[-1])
    wire = state.to_dict()
    for seat in set(range(4)) - {wire["declarer"], wire["partner"]}:
        view = state.view(seat).to_dict()
        partners = set()
        for seed in range(20):
            world = worlds.sample(view, worlds.know(view), random.Random(seed))
            partners.add(world["partner"])
        assert wire["declarer"] not in partners
        assert seat not in partners
        assert wire["partner"] in partners


def test_a_revealed_talon_is_with_the_declarer() -> None:
    state = games.get("doudizhu").start(3, "talon", {"reveal_talon": True})
    state = state.advance("bid:3")
    wire = state.to_dict()
    seat = (wire["declarer"] + 1) % 3
    view = state.view(seat).to_dict()
    for seed in range(5):
        world = worlds.sample(view, worlds.know(view), random.Random(seed))
        assert set(wire["talon"]) <= set(world["hands"][wire["declarer"]])
