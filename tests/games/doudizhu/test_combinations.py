"""The combinations of Dou Dizhu: the source's examples, a second classifier, known counts."""

import random
from collections import Counter
from itertools import combinations, pairwise

import pytest

import games
from games.doudizhu.combinations import CATEGORIES
from games.doudizhu.combinations import combinations as plays_of
from games.doudizhu.move_list import DoudizhuMoves
from games.errors import IllegalMove
from games.move import parse
from tests.support.climbing import doudizhu, moves
from tests.support.playing import reason

RANKS = [*"3456789TJQKA2", "Bj", "Rj"]


def read(text: str, players: int = 3, pair_as_solos: bool = False) -> tuple[str, str, int] | None:
    """Category, rank and length of cards, by the project."""
    plays = plays_of(players, pair_as_solos)
    try:
        move = plays.identify(parse("play:" + text, plays.deck))
    except IllegalMove:
        return None
    return str(move.category), str(move.rank), int(move.length or 0)


def slow_read(
    cards: tuple[str, ...], players: int, pair_as_solos: bool = False
) -> tuple[str, str, int] | None:
    """The same, from the text of the rules alone: rank by rank, no masks, no tables."""
    count = Counter(RANKS.index(card if card in ("Bj", "Rj") else card[0]) for card in cards)
    number = len(cards)

    def named(category: str, rank: int, length: int = 1) -> tuple[str, str, int]:
        return category, RANKS[rank], length

    def in_a_row(ranks: list[int], least: int) -> bool:
        follow = all(b == a + 1 for a, b in pairwise(ranks))
        return len(ranks) >= least and follow and ranks[-1] <= 11

    ranks = sorted(count)
    top = ranks[-1]
    if (
        number == (2 if players == 3 else 4)
        and set(ranks) == {13, 14}
        and len(set(count.values())) == 1
    ):
        return named("rocket", 14)
    if len(ranks) == 1 and number >= 4:
        return named("bomb", top, number)
    if len(ranks) == 1:
        return named(("solo", "pair", "triple")[number - 1], top)
    for size, category, least in ((1, "run", 5), (2, "pair-run", 3), (3, "triple-run", 2)):
        if set(count.values()) == {size} and in_a_row(ranks, least):
            return named(category, top, len(ranks))
    for size in (3, 4):
        main = [rank for rank in ranks if count[rank] == size]
        if size == 4 and players == 4:
            continue
        rest = Counter({rank: n for rank, n in count.items() if rank not in main})
        if not main or (size == 4 and len(main) != 1):
            continue
        if size == 3 and len(main) > 1 and not in_a_row(main, 2):
            continue
        wanted = len(main) if size == 3 else 2
        kinds = sorted(rest.values())
        solos = kinds == [1] * wanted and not {13, 14} <= set(rest)
        if size == 4 and pair_as_solos and kinds == [2]:
            solos = True
        pairs = kinds == [2] * wanted
        prefix = "quad" if size == 4 else "triple" if len(main) == 1 else "triple-run"
        many = "" if prefix == "triple" else "s"
        length = len(main)
        if solos and players == 3:
            return named(f"{prefix}+solo{many}", main[-1], length)
        if pairs:
            return named(f"{prefix}+pair{many}", main[-1], length)
    return None


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        # source, "dreizehn verschiedene Kombinationen"
        ("6c6d6h8s", ("triple+solo", "6", 1)),
        ("QcQdQh6c6d", ("triple+pair", "Q", 1)),
        ("8c9dThJsQc", ("run", "Q", 5)),
        ("TcTdJcJdQcQdKcKd", ("pair-run", "K", 4)),
        ("4c4d4h5c5d5h", ("triple-run", "5", 2)),
        ("7c7d7h8c8d8h3s6s", ("triple-run+solos", "8", 2)),
        ("8c8d8h9c9d9h4c4dJcJd", ("triple-run+pairs", "9", 2)),
        ("6c6d6h6s8c9c", ("quad+solos", "6", 1)),
        ("JcJdJhJs9c9dQcQd", ("quad+pairs", "J", 1)),
        # "einzelne Karten und Paare nicht gemischt": 3-3-3-4-4-4-6-7-7
        ("3c3d3h4c4d4h6s7c7d", None),
        ("BjRj", ("rocket", "Rj", 1)),
        ("2c2d2h2s", ("bomb", "2", 4)),
        # "Zweien und Joker können dafür nicht benutzt werden"
        ("TcJcQcKcAc2c", None),
        ("QcQdKcKdAcAd2c2d", None),
        ("AcAdAh2c2d2h", None),
        # "aber nicht beide Joker"
        ("7c7d7h8c8d8hBjRj", None),
        ("6c6d6h6sBjRj", None),
        ("7c7d7h8c8d8h2cBj", ("triple-run+solos", "8", 2)),
        ("2c2d2hRj", ("triple+solo", "2", 1)),
        # equal kickers, kickers of a triple's rank, a pair of jokers
        ("7c7d7h8c8d8h9c9d", None),
        ("7c7d7h7s8c8d8h9c", None),
        ("7c7d7hBjRj", None),
        ("6c6d6h6s8c8d", None),
        ("6c6d6h6s8c8d8h8s", None),
    ],
)
def test_examples_of_the_source(cards: str, expected: tuple[str, str, int] | None) -> None:
    assert read(cards) == expected


def test_option_lets_a_quad_carry_a_pair() -> None:
    assert read("6c6d6h6s8c8d", pair_as_solos=True) == ("quad+solos", "6", 1)
    state = doudizhu(["6c 6d 6h 6s 8c 8d 9c", "3c", "3d"], options={"quad_pair_as_solos": True})
    assert [m for m in moves(state) if len(m) == 17] == [
        "play:6c6d6h6s8c8d",
        "play:6c6d6h6s8c9c",
    ]


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        ("6c6d6h8s", None),  # no 4, 9, 13 with four players
        ("7c7d7h8c8d8h3s6s", None),
        ("6c6d6h6s8c9c", None),
        ("6c6d6h6s8c8d9c9d", None),
        ("5c5c5d5d5h", ("bomb", "5", 5)),  # never a triple with a pair
        ("5c5c5d5d5h5h5s5s", ("bomb", "5", 8)),
        ("BjBj", ("pair", "Bj", 1)),
        ("RjRj", ("pair", "Rj", 1)),
        ("BjRj", None),
        ("BjBjRjRj", ("rocket", "Rj", 1)),
        ("5c5d5hBjBj", ("triple+pair", "5", 1)),
        ("5c5d5h6c6d6hBjBjRjRj", ("triple-run+pairs", "6", 2)),
        ("5c5d5hBjRj", None),
        ("5c5c5d6h6h", ("triple+pair", "5", 1)),
    ],
)
def test_two_packs(cards: str, expected: tuple[str, str, int] | None) -> None:
    assert read(cards, players=4) == expected


def random_hands(players: int, size: int, number: int) -> list[list[str]]:
    """Hands of few ranks, so that they have many combinations."""
    random_ = random.Random(size)
    deck = list(games.get("doudizhu").deck(players).cards)
    found = []
    for _ in range(number):
        low = random_.randrange(0, 9)
        near = [card for card in deck if low <= RANKS.index(card.rstrip("cdhs") or card) < low + 4]
        pool = near + random_.sample(deck, 6)
        hand: list[str] = []
        for card in random_.sample(pool, len(pool)):
            if len(hand) < size and hand.count(card) < deck.count(card):
                hand.append(card)
        found.append(games.get("doudizhu").deck(players).in_order(hand))
    return found


def canonical(hand: list[str], cards: tuple[str, ...]) -> bool:
    """Whether these are the lowest suits of each rank."""
    by_rank: dict[str, list[str]] = {}
    for card in hand:
        by_rank.setdefault(card if card in ("Bj", "Rj") else card[0], []).append(card)
    used = Counter(card if card in ("Bj", "Rj") else card[0] for card in cards)
    lowest = [card for rank, cards_ in by_rank.items() for card in cards_[: used[rank]]]
    return sorted(lowest) == sorted(cards)


@pytest.mark.parametrize(("players", "size", "number"), [(3, 11, 20), (4, 11, 20)])
@pytest.mark.parametrize("pair_as_solos", [False, True])
def test_list_is_what_all_subsets_give(
    players: int, size: int, number: int, pair_as_solos: bool
) -> None:
    """The list agrees with the second classifier on every subset of small hands."""
    for hand in random_hands(players, size, number):
        expected = {}
        for k in range(1, size + 1):
            for cards in set(combinations(hand, k)):
                found = slow_read(cards, players, pair_as_solos)
                if found and canonical(hand, cards):
                    expected["play:" + "".join(cards)] = found
        plays = plays_of(players, pair_as_solos)
        listed = {
            m.text: (m.category, m.rank, m.length)
            for m in DoudizhuMoves(plays, plays.deck.hand(hand), None)
        }
        assert listed == expected


def test_known_counts_from_the_full_deck() -> None:
    """Distinct plays (up to suits) of at most 20 cards with three players: 12,654 together."""
    plays = plays_of(3, False)
    found: Counter[str] = Counter()
    for move in DoudizhuMoves(plays, plays.deck.full, None):
        if move.cards.bit_count() <= 20:
            found[str(move.category)] += 1
    assert {name: found[name] for name in CATEGORIES} == KNOWN
    assert sum(found.values()) == 12654


KNOWN = {
    "solo": 15,
    "pair": 13,
    "triple": 13,
    "triple+solo": 182,
    "triple+pair": 156,
    "run": 36,
    "pair-run": 52,
    "triple-run": 45,
    "triple-run+solos": 7161,
    "triple-run+pairs": 2939,
    "quad+solos": 1170,
    "quad+pairs": 858,
    "bomb": 13,
    "rocket": 1,
}


def test_a_quad_with_kickers_is_no_bomb() -> None:
    hands = ["5c 5d 5h 5s 6c 7c 8c 8d 8h 8s", "3c", "3d"]
    state = doudizhu(hands, "play:4c4d4h4sTcJc")
    assert moves(state) == [
        "pass",
        "play:5c5d5h5s",
        "play:8c8d8h8s",
        "play:5c5d5h5s6c7c",
        "play:5c5d5h5s6c8c",
        "play:5c5d5h5s7c8c",
        "play:5c6c8c8d8h8s",
        "play:5c7c8c8d8h8s",
        "play:6c7c8c8d8h8s",
    ]
    assert reason(doudizhu(hands, "play:Jc"), "play:5c5d5h5s6c7c") == "wrong-category"
    assert reason(doudizhu(hands, "play:9c9d9h9s"), "play:8c8d8h8s") == "not-higher"
    assert reason(doudizhu(hands, "play:BjRj"), "play:8c8d8h8s") == "not-higher"
    assert reason(doudizhu(hands, "play:BjRj"), "play:5c5d5h5s6c7c") == "wrong-category"


def test_kickers_do_not_count() -> None:
    """Source: 9-9-9-3 beats 8-8-8-A, Q-Q-Q-6-6 beats T-T-T-K-K."""
    state = doudizhu(["9c 9d 9h 3c 4c", "5c", "5d"], "play:8c8d8hAc")
    assert reason(state, "play:9c9d9h3c") == "legal"
    state = doudizhu(["Qc Qd Qh 6c 6d 4c", "5c", "5d"], "play:TcTdThKcKd")
    assert reason(state, "play:QcQdQh6c6d") == "legal"
    assert reason(state, "play:QcQdQh") == "wrong-category"


def test_other_suits_are_legal_but_not_listed() -> None:
    state = doudizhu(["9c 9d 9h 3c 4c", "5c", "5d"])
    assert reason(state, "play:9h9d") == "legal"
    assert state.check("play:9h9d").text == "play:9d9h"
    listed = state.moves().texts()
    assert {"play:9c9d", "play:3c9c9d9h"} < set(listed)
    assert "play:9d9h" not in listed
