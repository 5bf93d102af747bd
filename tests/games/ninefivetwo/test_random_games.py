"""9-5-2 in whole random games: invariants, a second opinion on legality, what views may know."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games import IllegalMove
from games.ninefivetwo.state import NinefivetwoState
from tests.games.ninefivetwo.positions import GAME

DECK = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
KINDS = {"exchange": "give", "trump": "trump", "discard": "discard", "play": "play"}

Wire = dict[str, Any]


def game(
    seed: int, deals: int = 3, in_bulk: bool = False, target: int = 0
) -> Iterator[NinefivetwoState]:
    """Every state of a random game; with `in_bulk` gives and discards are sometimes together."""
    rng = random.Random(seed)
    state = GAME.start(None, f"random {seed}", {"deals": deals, "target": target or 1 + seed % 20})
    assert isinstance(state, NinefivetwoState)
    while True:
        yield state
        if state.turn is None:
            return
        move = str(rng.choice(state.moves()))
        if in_bulk and state.phase in ("exchange", "discard") and rng.random() < 0.4:
            hand = state.to_dict()["hands"][state.turn]
            chosen = rng.sample(hand, state.cards_owed())
            move = f"{KINDS[state.phase]}:{''.join(chosen)}"
        state = state.advance(move)


def owed(wire: Wire) -> int:
    """How many cards are to be given or laid away, from the wire form alone."""
    if wire["phase"] == "exchange":
        first = wire["owed"][0]
        return int(first["count"]) - len(first["given"])
    return 4 - len(wire["discards"])


def brute_force(wire: Wire, hand: list[str]) -> list[str]:
    """The list of legal moves by the words of the rules, from the wire form alone."""
    phase = wire["phase"]
    if phase == "trump":
        return [f"trump:{suit}" for suit in "cdhs"]
    allowed = set(hand)
    if phase == "play" and wire["trick"]:
        led = wire["trick"][0]["move"][-1]
        if any(card[1] == led for card in hand):
            allowed = {card for card in hand if card[1] == led}
    return [f"{KINDS[phase]}:{card}" for card in DECK if card in allowed]


@pytest.mark.parametrize("seed", range(12))
def test_invariants(seed: int) -> None:
    length = 0
    dealt = 1
    for state in game(seed, in_bulk=bool(seed % 2)):
        wire = state.to_dict()
        length = 0 if wire["deal"] > dealt else length + 1
        dealt = wire["deal"]
        assert length <= 16 + 1 + 4 + 48
        played = re.findall(r"play:(..)", json.dumps(wire["history"]))
        places = [*wire["hands"], wire["talon"], wire["discards"], played]
        places += [pair["given"] for pair in wire["owed"]]
        assert sorted(card for place in places for card in place) == sorted(DECK)
        # The results tell the whole story of the scores.
        assert [sum(r["scores"][s] for r in wire["results"]) for s in range(3)] == wire["scores"]
        for result in wire["results"]:
            assert sum(result["tricks"]) == 16
            assert sorted(result["targets"]) == [2, 5, 9]
            assert result["scores"] == [
                max(0, won - target)
                for won, target in zip(result["tricks"], result["targets"], strict=True)
            ]
        for pair in wire["exchanged"]:
            assert [card[1] for card in pair["given"]] == [card[1] for card in pair["returned"]]
            ranks = "23456789TJQKA"
            for card in pair["given"]:
                # Nobody gets less than it gave, whatever the order.
                best = max(ranks.index(back[0]) for back in pair["returned"] if back[1] == card[1])
                assert best >= ranks.index(card[0])
        if wire["phase"] == "over":
            most = max(wire["scores"])
            assert len(wire["results"]) == 3 or most >= wire["options"]["target"]
        elif wire["results"]:
            assert max(wire["scores"]) < wire["options"]["target"]


@pytest.mark.parametrize("seed", range(4))
def test_debts_follow_from_the_deal_before(seed: int) -> None:
    seen = 0
    for state in game(seed, deals=8, target=1000):
        wire = state.to_dict()
        if not wire["results"] or wire["phase"] != "trump":
            continue
        before = wire["results"][-1]
        over = [won - n for won, n in zip(before["tricks"], before["targets"], strict=True)]
        moved = [0, 0, 0]
        for pair in wire["exchanged"]:
            moved[pair["giver"]] += len(pair["given"])
            moved[pair["debtor"]] -= len(pair["given"])
        assert moved == over
        assert wire["targets"] == [before["targets"][s - 1] for s in range(3)]
        seen += 1
    assert seen


@pytest.mark.parametrize("seed", range(4))
def test_a_second_opinion_on_what_is_legal(seed: int) -> None:
    rng = random.Random(seed)
    for state in game(seed, deals=2, in_bulk=True, target=1000):
        if state.turn is None:
            continue
        wire = state.to_dict()
        hand = wire["hands"][state.turn]
        listed = brute_force(wire, hand)
        assert state.moves().texts() == listed
        for kind in ("give", "discard", "play"):
            for card in rng.sample(DECK, 6):
                assert state.is_legal(f"{kind}:{card}") == (f"{kind}:{card}" in listed)
        for suit in "cdhs":
            assert state.is_legal(f"trump:{suit}") == (wire["phase"] == "trump")
        for number in range(2, min(6, len(hand) + 1)):
            some = "".join(rng.sample(hand, number))
            for kind in ("give", "discard", "play"):
                together = wire["phase"] != "play" and KINDS[wire["phase"]] == kind
                legal = together and number == owed(wire)
                assert state.is_legal(f"{kind}:{some}") == legal


@pytest.mark.parametrize("seed", range(3))
def test_positions_travel_and_views_answer_like_states(seed: int) -> None:
    for state in game(seed, deals=2, in_bulk=True, target=1000):
        wire = json.loads(json.dumps(state.to_dict()))
        again = GAME.state(wire)
        assert again.to_dict() == wire
        moves = state.moves().texts()
        assert again.moves().texts() == moves
        for seat in range(3):
            sent = json.loads(json.dumps(state.view(seat).to_dict()))
            view = GAME.view(sent)
            assert view.to_dict() == sent
            assert again.view(seat).to_dict() == sent
            assert view.moves().texts() == (moves if seat == state.turn else [])


def rename(data: Any, names: dict[str, str]) -> Any:
    """The same data with cards renamed; lists of cards stay lists of the same cards."""
    if isinstance(data, dict):
        return {key: rename(value, names) for key, value in data.items()}
    if isinstance(data, list):
        return [rename(value, names) for value in data]
    if isinstance(data, str):
        kind, colon, cards = data.rpartition(":")
        found = [cards[i : i + 2] for i in range(0, len(cards), 2)]
        if all(card in DECK for card in found):
            return kind + colon + "".join(names.get(card, card) for card in found)
    return data


@pytest.mark.parametrize("seed", range(3))
def test_what_a_seat_may_not_see_changes_nothing_for_it(seed: int) -> None:
    rng = random.Random(seed)
    compared = 0
    for number, state in enumerate(game(seed, deals=3, in_bulk=True, target=1000)):
        if number % 3:
            continue
        wire = state.to_dict()
        for seat in range(3):
            view = state.view(seat).to_dict()
            unseen = [card for card in DECK if card not in json.dumps(view)]
            shuffled = rng.sample(unseen, len(unseen))
            other = GAME.state(rename(wire, dict(zip(unseen, shuffled, strict=True))))
            assert other.view(seat).to_dict() == view
            compared += unseen != shuffled
            if seat == state.turn:
                assert other.moves().texts() == state.moves().texts()
                for kind in ("give", "discard", "play", "trump"):
                    for card in rng.sample(DECK, 4):
                        move = f"{kind}:{card}"
                        assert verdict(other, move) == verdict(state, move)
    assert compared > 50


def verdict(state: Any, move: str) -> str:
    try:
        return str(state.check(move))
    except IllegalMove as error:
        return str(error)


SEEDS = st.text(min_size=1, max_size=12, alphabet=st.characters(exclude_categories=["Cs"]))


@settings(deadline=None, max_examples=30)
@given(seed=SEEDS, picks=st.lists(st.integers(0, 1000), max_size=130))
def test_a_listed_move_is_always_legal_and_canonical(seed: str, picks: list[int]) -> None:
    state = GAME.start(None, seed, {"deals": 2})
    for pick in picks:
        moves = state.moves()
        if not moves:
            assert state.phase == "over"
            break
        move = moves[pick % len(moves)]
        assert state.check(move.text) == move
        state = state.advance(move.text)


@settings(deadline=None, max_examples=100)
@given(
    kind=st.sampled_from(["play", "give", "discard", "call"]),
    named=st.lists(st.sampled_from([*DECK, "Bj", "Rj"]), min_size=1, max_size=6),
    suffix=st.sampled_from(["", "=flush", "=fullhouse"]),
    seed=st.integers(0, 5),
    number=st.integers(0, 120),
)
def test_any_well_formed_move_is_judged_and_never_crashes(
    kind: str, named: list[str], suffix: str, seed: int, number: int
) -> None:
    state = STATES[seed][number % len(STATES[seed])]
    move = f"{kind}:{''.join(named)}{suffix}"
    try:
        legal = state.check(move)
    except IllegalMove:
        return
    assert list(state.advance(legal).history)[-1:] in ([], [(state.turn, legal.text)])
    assert not suffix
    assert sorted(re.findall("..", legal.text.partition(":")[2])) == sorted(named)


STATES = [list(game(seed, deals=2, in_bulk=True, target=1000)) for seed in range(6)]
