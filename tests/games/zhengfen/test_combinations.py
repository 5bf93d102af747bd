import random
import re

import pytest

from games import Position
from games.zhengfen.combinations import DECK, NAMES
from games.zhengfen.move_list import ZhengfenMoves
from games.zhengfen.play_groups import BOTH
from tests.support.games.playing import reason
from tests.support.games.zhengfen import follow, lead
from tools import brute_force as brute

# By category, from the numbers of cards and jokers that each combination may have.
KNOWN = [54, 183, 260, 194, 986615272476, 24884958544, 27566, 75910, 6780, 60, 4, 1]


def test_reading() -> None:
    for name, text, category, rank, length in (
        ("A) Einzelkarte", "9h", "single", "9", 1),
        ("B) Paar", "QcQs", "pair", "Q", 1),
        ("C) Drilling", "JcJdJh", "triple", "J", 1),
        ("D) Vierling", "9c9d9h9s", "quad", "9", 1),
        ("E) K-K=A-A=2-2", "KcKdAcAd2c2d", "pair-run", "2", 3),
        ("F) 3-3-3=4-4-4=5-5-5", "3c3d3h4c4d4h5c5d5h", "triple-run", "5", 3),
        (
            "G) 9-9-9-9=10-10-10-10=B-B-B-B=D-D-D-D",
            "9c9d9h9sTcTdThTsJcJdJhJsQcQdQhQs",
            "quad-run",
            "Q",
            4,
        ),
        ("H) 5-5-5=D-D", "5c5d5hQcQd", "fullhouse", "5", 1),
        ("H) 2-2-2=6-7", "6h7h2c2d2s", "fullhouse", "2", 1),
        ("H) 5-5-5=3=10", "3c5c5d5hTs", "fullhouse", "5", 1),
        ("H) A-A-A=5-10", "5cTdAcAdAh", "fullhouse", "A", 1),
        ("I) B-D-K-A-2", "JsQsKsAs2s", "flush", "2", 5),
        ("Sonderkategorie 5-10-K in beliebigen Farben", "5cTdKh", "510k", "K", 1),
        ("Sonderkategorie 5-10-K in einer Farbe", "5hThKh", "510k-suited", "K", 1),
        ("Sonderkategorie 2-2-2-2", "2c2d2h2s", "2222", "2", 1),
        ("As und kleiner Joker, quasi ein As-Paar", "AsBj", "pair", "A", 1),
        ("B-[kleiner Joker]-[grosser Joker]", "JsBjRj", "triple", "J", 1),
        ("one joker up, one down", "JhQhKhAhBjRj", "flush", "2", 6),
        ("a flush of thirteen", "3s4s5s6s7s8s9sTsJsQsKsAsRj", "flush", "2", 13),
        ("a quad-run holds four 2s as any others", "KcKdKhKsAcAdAhAs2c2d2h2s", "quad-run", "2", 3),
    ):
        move = lead(text).check(f"play:{text}")
        assert (move.category, move.rank, move.length) == (category, rank, length), name
        assert move.text in lead(text).moves().texts()


def test_no_combination() -> None:
    for text in (
        "3c3d4c4d2c2d",  # "nicht um die Ecke: 2-2=3-3=4-4"
        "3h4h5hAh2h",
        "".join(f"{rank}c{rank}d" for rank in "3456789TJQKA2") + "BjRj",
        "3s4s5s6s7s8s9sTsJsQsKsAs2sBj",
    ):
        assert reason(lead(text), f"play:{text}") == "not-a-combination"


def test_order() -> None:
    for name, table, hand, expected in (
        ("4-5-6-7-8 ist gleichwertig zu 4-5-6-7-8", "4c5c6c7c8c", "4d5d6d7d8d", "not-higher"),
        ("B-B-B ist gleichwertig zu B-Bj-Rj", "JcJdJh", "JsBjRj", "not-higher"),
        ("B-Bj-Rj ist gleichwertig zu B-B-B", "JsBjRj", "JcJdJh", "not-higher"),
        ("B) a pair of 2s below both jokers", "2c2d", "BjRj", "legal"),
        ("E)-G) the highest multiple", "3c3d4c4d5c5d6c6d", "5h5s6h6s7c7d", "legal"),
        ("E)-G) at equal rank the longer", "7c7d8c8d9c9d", "6h6s7h7s8h8s9h9s", "legal"),
        ("E)-G) at equal rank the shorter", "6h6s7h7s8h8s9h9s", "7c7d8c8d9c9d", "not-higher"),
        ("H) the triple counts, not its company", "6c6d6hAcAd", "3c7c7d7h8s", "legal"),
        ("H) the types are equal among themselves", "3c5c5d5hTs", "4c4d4hAcAd", "not-higher"),
        ("H) equal triples, each by a joker", "6c6d8c8dBj", "3cKd8h8sRj", "not-higher"),
        ("I) the highest card", "4c5c6c7c8c9c", "6d7d8d9dTd", "legal"),
        ("I) at equal rank the longer", "4c5c6c7c8c", "3d4d5d6d7d8d", "legal"),
        ("5-10-K on anything", "2c2d2hRj", "5cTdKh", "legal"),
        ("5-10-K in one suit on 5-10-K", "5cTdKh", "5sTsKs", "legal"),
        ("2er-Vierling on 5-10-K in one suit", "5sTsKs", "2c2d2h2s", "legal"),
        ("2er-Vierling on a plain quad", "AcAdAhAs", "2c2d2h2s", "legal"),
    ):
        hand = "".join(DECK.in_order(re.findall("..", hand)))
        state = follow(hand, table)
        assert reason(state, f"play:{hand}") == expected, name
        assert (f"play:{hand}" in state.moves().texts()) == (expected == "legal")


def test_a_needless_suffix_is_dropped() -> None:
    assert lead("4s6s8sBjRj").check("play:RjBj8s6s4s=flush").text == "play:4s6s8sBjRj"
    assert lead("5c5d5hQcQd").check("play:QdQc5c5d5h=fullhouse").text == "play:5c5d5hQcQd"


def test_known_counts_from_the_full_deck() -> None:
    """Distinct sets of cards by category, out of all 54; runs by number, never spelled out."""
    counts, houses = [0] * len(NAMES), [0, 0, 0]
    for group in ZhengfenMoves(DECK.full, None).groups:
        category = group.reading[0]
        counts[category] += group.count
        if NAMES[category] == "fullhouse":
            for play in group.plays():
                houses[(play & BOTH).bit_count()] += 1
    assert counts == KNOWN
    assert list(NAMES) == brute.CATEGORIES
    assert houses == [16448, 2 * 24061, 11340], "by the number of jokers"


def agree(hand: list[str], rng: random.Random) -> None:
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
