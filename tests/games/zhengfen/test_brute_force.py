"""The list and the check of Zheng Fen against a brute-force reading of every subset of a hand."""

import random

import pytest

from games import Position
from games.zhengfen.combinations import NAMES
from tests.support.games.playing import reason
from tests.support.games.zhengfen import follow, lead
from tools import brute_force as brute


def agree(hand: list[str], rng: random.Random) -> None:
    """The lists and checks of the lead and a few plays to beat agree with brute force."""
    plays = brute.all_plays(hand)
    assert_same(lead("".join(hand)), plays, None, rng)
    for cards, category, way in tables(hand, rng):
        suffix = f"={category}" if len(brute.readings(cards)) > 1 else ""
        assert_same(follow("".join(hand), "".join(cards) + suffix), plays, (category, *way), rng)


def tables(hand: list[str], rng: random.Random) -> list[tuple[brute.Cards, str, tuple[str, int]]]:
    """A play of each category from other cards of the hand's ranks and the ranks next to them."""
    ranks = [brute.RANKS.index(card[0]) for card in hand if card not in brute.JOKERS]
    near = {brute.RANKS[n] for rank in ranks for n in range(max(rank - 1, 0), min(rank + 2, 13))}
    rest = [card for card in brute.DECK if card not in hand and card[0] in {*near, "B", "R"}]
    found: dict[str, list[tuple[brute.Cards, str, tuple[str, int]]]] = {}
    for cards, ways in brute.all_plays(rng.sample(rest, min(len(rest), 9))).items():
        for category, way in ways.items():
            found.setdefault(category, []).append((cards, category, way))
    return [rng.choice(group) for group in found.values()]


def assert_same(
    state: Position,
    plays: dict[brute.Cards, dict[str, tuple[str, int]]],
    table: brute.Play | None,
    rng: random.Random,
) -> None:
    expected = brute.listed(plays, table)
    moves = state.moves()
    texts = ([] if table is None else ["pass"]) + [play[0] for play in expected]
    assert moves.texts() == texts
    assert len(moves) == len(texts)
    played = [(m.text, m.category, m.rank, m.length) for m in moves if m.kind == "play"]
    assert played == expected
    for place in rng.sample(range(len(texts)), min(len(texts), 20)):
        assert moves[place].text == texts[place]
        assert state.check(texts[place]).text == texts[place]
    sample = [*plays] if len(plays) < 600 else rng.sample([*plays], 600)
    for cards in sample:
        for suffix in ("", "=flush", "=fullhouse"):
            text = "play:" + "".join(rng.sample(cards, len(cards))) + suffix
            expected_reason = brute.verdict(cards, plays[cards], table, suffix)
            assert reason(state, text) == expected_reason, (text, table)
            if expected_reason == "legal":
                move = state.check(text)
                assert plays[cards][move.category or ""] == (move.rank, move.length)


@pytest.mark.parametrize("seed", range(24))
def test_any_hand_and_one_with_jokers_in_a_corner(seed: int) -> None:
    rng = random.Random(f"jokers {seed}")
    agree(rng.sample(brute.DECK, rng.randint(1, 9)), rng)
    low = rng.randint(0, 9)
    near = [card for card in brute.CARDS if low <= brute.RANKS.index(card[0]) < low + 4]
    jokers = [[], ["Bj"], ["Rj"], ["Bj", "Rj"]][rng.randint(0, 3)]
    agree(rng.sample(near, 9 - len(jokers)) + jokers, rng)


@pytest.mark.parametrize("seed", range(12))
def test_hands_of_one_suit_and_a_few_more(seed: int) -> None:
    rng = random.Random(f"suit {seed}")
    suit = [card for card in brute.CARDS if card[1] == brute.SUITS[seed % 4]]
    few = rng.sample([card for card in brute.CARDS if card not in suit], 2)
    agree(rng.sample(suit, 6) + few + [["Bj", "Rj"], ["Rj"]][seed % 2], rng)


@pytest.mark.parametrize("ranks", ["QKA2", "KA2", "345", "TJQ", "5TK"])
def test_quads_and_both_jokers(ranks: str) -> None:
    """Specials, and runs of triples and quads, with gaps filled and ends extended below a 2."""
    cards = [rank + suit for rank in ranks for suit in brute.SUITS]
    rng = random.Random(ranks)
    agree([*rng.sample(cards, 10), "Bj", "Rj"], rng)


def test_the_categories_are_known_to_both() -> None:
    assert list(NAMES) == brute.CATEGORIES
