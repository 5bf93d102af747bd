"""Dealing follows the contract exactly: a second implementation, and properties."""

import hashlib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games
from games.shuffle import Randomness


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


@given(seed=st.text(min_size=1, max_size=8, alphabet="ab/é"), n=st.integers(1, 2**32))
def test_below_follows_the_words(seed: str, n: int) -> None:
    stream = words(seed, 3)
    random = Randomness(seed, 3)
    for _ in range(20):
        assert random.below(n) == below(stream, n)
