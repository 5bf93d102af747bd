"""Dealing follows the contract exactly: a second implementation, and properties."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from math import factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games
from games.shuffle import Randomness, distribute


def words(seed: str, deal: int) -> Iterator[int]:
    """For block b = 0, 1, 2, …: SHA-256 of `{seed}/{deal}/{b}`, eight big-endian words."""
    block = 0
    while True:
        digest = hashlib.sha256(f"{seed}/{deal}/{block}".encode()).digest()
        for start in range(0, 32, 4):
            yield int.from_bytes(digest[start : start + 4], "big")
        block += 1


def below(stream: Iterator[int], n: int) -> int:
    while True:
        word = next(stream)
        if word < 2**32 // n * n:
            return word % n


def shuffle(stream: Iterator[int], cards: list[str]) -> list[str]:
    cards = list(cards)
    for i in range(len(cards) - 1, 0, -1):
        j = below(stream, i + 1)
        cards[i], cards[j] = cards[j], cards[i]
    return cards


SUITS = "cdhs"


def pack(ranks: str, jokers: bool, packs: int = 1) -> list[str]:
    single = [rank + suit for rank in ranks for suit in SUITS]
    return (single + (["Bj", "Rj"] if jokers else [])) * packs


# game, players, deck, cards each, who draws first in deal 1
TABLE = [
    ("doudizhu", 3, pack("3456789TJQKA2", True), 17, 0),
    ("doudizhu", 4, pack("3456789TJQKA2", True, 2), 25, 0),
    ("dasan", 3, pack("456789TJQKA23", False), 16, 0),
    ("dasan", 4, pack("456789TJQKA23", False), 13, 0),
    ("zhengfen", 3, pack("3456789TJQKA2", True), 18, 1),
    ("zhengfen", 4, pack("3456789TJQKA2", True), None, 1),
    ("zhengfen", 5, pack("3456789TJQKA2", True), None, 1),
    ("zhengfen", 6, pack("3456789TJQKA2", True), 9, 1),
    ("ninefivetwo", 3, pack("23456789TJQKA", False), 16, 1),
]


@pytest.mark.parametrize(("game", "players", "deck", "each", "start"), TABLE)
@pytest.mark.parametrize("seed", ["golden-0", "ä/∞/🂡", "x" * 128])
def test_the_first_deal_of_every_game(
    game: str, players: int, deck: list[str], each: int | None, start: int, seed: str
) -> None:
    stream = words(seed, 1)
    order = shuffle(stream, deck)
    drawn = len(deck) if each is None else each * players
    hands: list[list[str]] = [[] for _ in range(players)]
    for k in range(drawn):
        hands[(start + k) % players].append(order[k])
    place = {card: i for i, card in enumerate(deck[: len(set(deck))])}
    wire = games.get(game).start(players, seed, {}).to_dict()
    assert wire["hands"] == [sorted(hand, key=place.__getitem__) for hand in hands]
    assert wire.get("talon", []) == sorted(order[drawn:], key=place.__getitem__)
    if game == "doudizhu":
        e = below(stream, drawn)
        assert wire["exposed"] == order[e]
        assert wire["first"] == wire["turn"] == e % players


def test_every_game_at_every_number_of_players_is_in_the_table() -> None:
    there = {(row[0], row[1]) for row in TABLE}
    assert there == {
        (game.name, players)
        for game in games.GAMES.values()
        for players in range(game.min_players, game.max_players + 1)
    }


def test_each_deal_has_its_own_words() -> None:
    first, second = Randomness("s", 1), Randomness("s", 2)
    assert [first.below(1000) for _ in range(20)] != [second.below(1000) for _ in range(20)]


def test_a_slash_in_a_seed_may_meet_another_deal() -> None:
    # The text is {seed}/{deal}/{block}, so by the contract these two agree.
    assert next(words("s/1", 2)) == int.from_bytes(hashlib.sha256(b"s/1/2/0").digest()[:4], "big")
    assert Randomness("s/1", 2).below(2**32) == next(words("s/1", 2))


@given(seed=st.text(min_size=1, max_size=8, alphabet="ab/é"), n=st.integers(1, 2**32))
def test_below_follows_the_words(seed: str, n: int) -> None:
    stream = words(seed, 3)
    random = Randomness(seed, 3)
    for _ in range(20):
        assert random.below(n) == below(stream, n)


def test_below_skips_words_that_would_favour_small_answers() -> None:
    n = 2**31 + 1  # nearly half of all words are skipped
    stream = words("skip", 1)
    taken = [word for word in islice(stream, 100) if word < n]
    random = Randomness("skip", 1)
    assert [random.below(n) for _ in taken] == taken
    assert len(taken) < 70


def test_every_order_of_four_cards_is_about_as_likely() -> None:
    deals = 4800
    seen = Counter(tuple(Randomness("fair", deal).shuffle(range(4))) for deal in range(deals))
    assert len(seen) == factorial(4)
    expected = deals / factorial(4)
    chi_squared = sum((n - expected) ** 2 / expected for n in seen.values())
    assert chi_squared < 49.7  # 23 degrees of freedom, once in a thousand seeds


@given(players=st.integers(2, 6), start=st.integers(0, 5), size=st.integers(0, 60), data=st.data())
def test_cards_go_round_one_by_one(
    players: int, start: int, size: int, data: st.DataObject
) -> None:
    start %= players
    drawn = data.draw(st.integers(0, size))
    hands, talon = distribute(range(size), players, start, drawn)
    assert talon == list(range(drawn, size))
    for card in range(drawn):
        assert card in hands[(start + card) % players]
    assert sum(len(hand) for hand in hands) == drawn
