"""The list and the check of Zheng Fen against a brute-force reading of every subset of a hand."""

import random

import pytest

from games import Position
from games.zhengfen.combinations import CATEGORIES
from tests.support.playing import reason
from tests.support.zhengfen import follow, lead
from tools import brute_force as brute


def agree(hand: list[str], seed: int) -> None:
    """The lists and checks of the lead and a few plays to beat agree with brute force."""
    rng = random.Random(seed)
    plays = brute.all_plays(hand)
    assert_same(lead("".join(hand)), plays, None, rng)
    rest = [card for card in brute.DECK if card not in hand]
    for cards, category, way in tables(rest, plays, rng):
        suffix = f"={category}" if len(brute.readings(cards)) > 1 else ""
        assert_same(follow("".join(hand), "".join(cards) + suffix), plays, (category, *way), rng)


def tables(
    rest: list[str], plays: dict[brute.Cards, dict[str, tuple[str, int]]], rng: random.Random
) -> list[tuple[brute.Cards, str, tuple[str, int]]]:
    """Plays of other cards, like those of the hand: its own with other suits, and any."""
    tables = []
    by_category: dict[str, list[brute.Cards]] = {}
    for cards, ways in plays.items():
        for category in ways:
            by_category.setdefault(category, []).append(cards)
    for cards in [rng.choice(group) for group in by_category.values()]:
        shift = rng.choice((-1, 0, 0, 1))
        other: list[str] = []
        for card in cards:
            rank = card[0] if card[0] not in "BR" else rng.choice(brute.RANKS)
            near = brute.RANKS[max(0, min(12, brute.RANKS.index(rank) + shift))]
            same = [spare for spare in rest if spare[0] == near and spare not in other]
            other += rng.sample(same, min(1, len(same)))
        to_beat = tuple(sorted(other, key=brute.DECK.index))
        if to_beat:
            tables += [(to_beat, *reading) for reading in brute.readings(to_beat).items()]
    return tables


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


@pytest.mark.parametrize("seed", range(40))
def test_any_small_hand(seed: int) -> None:
    rng = random.Random(f"any {seed}")
    agree(rng.sample(brute.DECK, rng.randint(1, 9)), seed)


@pytest.mark.parametrize("seed", range(24))
def test_hands_with_jokers_in_one_corner_of_the_deck(seed: int) -> None:
    rng = random.Random(f"jokers {seed}")
    low = rng.randint(0, 9)
    near = [card for card in brute.CARDS if low <= brute.RANKS.index(card[0]) < low + 4]
    jokers = [[], ["Bj"], ["Rj"], ["Bj", "Rj"]][rng.randint(0, 3)]
    agree(rng.sample(near, 9 - len(jokers)) + jokers, seed)


@pytest.mark.parametrize("seed", range(16))
def test_hands_of_one_suit_and_a_few_more(seed: int) -> None:
    rng = random.Random(f"suit {seed}")
    suit = [card for card in brute.CARDS if card[1] == brute.SUITS[seed % 4]]
    few = rng.sample([card for card in brute.CARDS if card not in suit], 2)
    agree(rng.sample(suit, 6) + few + [["Bj", "Rj"], ["Rj"]][seed % 2], seed)


@pytest.mark.parametrize("ranks", ["QKA2", "KA2", "345", "TJQ"])
def test_quads_and_both_jokers(ranks: str) -> None:
    """Runs of triples and quads, with gaps filled and ends extended downwards below a 2."""
    cards = [rank + suit for rank in ranks for suit in brute.SUITS]
    agree([*random.Random(ranks).sample(cards, 10), "Bj", "Rj"], 1)


def test_the_categories_are_known_to_both() -> None:
    assert list(CATEGORIES) == brute.CATEGORIES
