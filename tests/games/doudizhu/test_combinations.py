import random
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import pytest

import games
from games.doudizhu.combinations import NAMES
from games.doudizhu.combinations import combinations as combinations_of
from games.doudizhu.move_list import DoudizhuMoves
from games.game import Category
from tests.support.games.climbing import Reading, assert_lists, doudizhu
from tests.support.games.playing import reason

RANKS = [*"3456789TJQKA2", "Bj", "Rj"]
JOKERS = [13, 14]


def rank_of(card: str) -> int:
    return RANKS.index(card if card in ("Bj", "Rj") else card[0])


def slow_read(cards: tuple[str, ...], players: int, pair_as_solos: bool = False) -> Reading | None:
    """Category, rank and length by the rules' text, rank by rank: no masks, no tables."""
    count = Counter(map(rank_of, cards))
    ranks, sizes = sorted(count), set(count.values())

    def in_a_row(ranks: list[int], least: int) -> bool:
        follow = all(high == low + 1 for low, high in pairwise(ranks))
        return len(ranks) >= least and follow and ranks[-1] <= RANKS.index("A")

    if len(ranks) == 1:
        number = len(cards)
        category = ("solo", "pair", "triple", "bomb")[min(number, 4) - 1]
        return category, RANKS[ranks[0]], number if category == "bomb" else 1
    if ranks == JOKERS and sizes == {players - 2}:
        return "rocket", "Rj", 1
    for size, category, least in ((1, "run", 5), (2, "pair-run", 3), (3, "triple-run", 2)):
        if sizes == {size} and in_a_row(ranks, least):
            return category, RANKS[ranks[-1]], len(ranks)
    for size, name in ((3, "triple"), (4, "quad"))[: 5 - players]:
        core = [rank for rank in ranks if count[rank] == size]
        if not core or (len(core) > 1 and (size == 4 or not in_a_row(core, 2))):
            continue
        wanted = len(core) if size == 3 else 2
        kickers = sorted(count[rank] for rank in ranks if rank not in core)
        solos = kickers == [1] * wanted and not set(JOKERS) <= set(ranks)
        if size == 4 and pair_as_solos and kickers == [2]:
            solos = True
        prefix = name if size == 4 or len(core) == 1 else "triple-run"
        plural = "" if prefix == "triple" else "s"
        if solos and players == 3:
            return f"{prefix}+solo{plural}", RANKS[core[-1]], len(core)
        if kickers == [2] * wanted:
            return f"{prefix}+pair{plural}", RANKS[core[-1]], len(core)
    return None


def slow_beats(play: Reading, table: Reading) -> bool:
    order = {"bomb": 1, "rocket": 2}
    (category, rank, length), (category_below, rank_below, length_below) = play, table
    higher = RANKS.index(rank) > RANKS.index(rank_below)
    if category == category_below and length == length_below:
        return higher
    if category == category_below == "bomb":
        return length > length_below
    return order.get(category, 0) > order.get(category_below, 0)


def test_examples_of_the_source() -> None:
    for cards, players, expected in (
        # source, "dreizehn verschiedene Kombinationen"
        ("6c6d6h8s", 3, ("triple+solo", "6", 1)),
        ("QcQdQh6c6d", 3, ("triple+pair", "Q", 1)),
        ("8c9dThJsQc", 3, ("run", "Q", 5)),
        ("TcTdJcJdQcQdKcKd", 3, ("pair-run", "K", 4)),
        ("4c4d4h5c5d5h", 3, ("triple-run", "5", 2)),
        ("7c7d7h8c8d8h3s6s", 3, ("triple-run+solos", "8", 2)),
        ("8c8d8h9c9d9h4c4dJcJd", 3, ("triple-run+pairs", "9", 2)),
        ("6c6d6h6s8c9c", 3, ("quad+solos", "6", 1)),
        ("JcJdJhJs9c9dQcQd", 3, ("quad+pairs", "J", 1)),
        # "einzelne Karten und Paare nicht gemischt": 3-3-3-4-4-4-6-7-7
        ("3c3d3h4c4d4h6s7c7d", 3, None),
        ("BjRj", 3, ("rocket", "Rj", 1)),
        ("2c2d2h2s", 3, ("bomb", "2", 4)),
        # "Zweien und Joker können dafür nicht benutzt werden"
        ("TcJcQcKcAc2c", 3, None),
        ("QcQdKcKdAcAd2c2d", 3, None),
        ("AcAdAh2c2d2h", 3, None),
        # "aber nicht beide Joker"
        ("7c7d7h8c8d8hBjRj", 3, None),
        ("6c6d6h6sBjRj", 3, None),
        ("7c7d7h8c8d8h2cBj", 3, ("triple-run+solos", "8", 2)),
        ("2c2d2hRj", 3, ("triple+solo", "2", 1)),
        # two packs
        ("5c5c5d5d5h5h5s5s", 4, ("bomb", "5", 8)),
        ("BjRj", 4, None),
        ("BjBjRjRj", 4, ("rocket", "Rj", 1)),
        ("5c5d5h6c6d6hBjBjRjRj", 4, ("triple-run+pairs", "6", 2)),
    ):
        plays = combinations_of(players, False)
        reading = plays.classify(plays.deck.hand(re.findall("..", cards)))
        named = reading and (NAMES[reading[0]], plays.deck.ranks[reading[1]], reading[2])
        assert named == expected, cards


def random_hands(players: int) -> Iterator[list[str]]:
    rng, deck = random.Random(11), games.get("doudizhu").deck(players)
    for _ in range(20):
        ranks = [*range(low := rng.randrange(9), low + 4), *JOKERS]
        pool = [card for card in deck.cards if rank_of(card) in ranks or rng.random() < 0.1]
        yield deck.in_order(rng.sample(pool, 11))


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("pair_as_solos", [False, True])
def test_lists_are_what_all_subsets_give(players: int, pair_as_solos: bool) -> None:
    rules = combinations_of(players, pair_as_solos)
    assert_lists(
        rules,
        rules.deck,
        lambda hand, table: DoudizhuMoves(rules, hand, table),
        lambda cards: slow_read(cards, players, pair_as_solos),
        slow_beats,
        random_hands(players),
    )


def test_known_counts_from_the_full_deck() -> None:
    """Distinct plays (up to suits) of at most 20 cards with three players: 12,654 together."""
    plays = combinations_of(3, False)
    found: Counter[str] = Counter()
    for move in DoudizhuMoves(plays, plays.deck.full, None):
        if move.cards.bit_count() <= 20:
            found[str(move.category)] += 1
    by_category = [found[name] for name in NAMES]
    assert by_category == [15, 13, 13, 182, 156, 36, 52, 45, 7161, 2939, 1170, 858, 13, 1]


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize(
    "category", games.get("doudizhu").categories, ids=lambda category: category.name
)
def test_a_category_exists_for_its_numbers_of_players(category: Category, players: int) -> None:
    """With four players nothing has solos attached, and no quad has kickers."""
    cards = re.findall("..", category.example.removeprefix("play:"))
    if category.name == "rocket":
        cards *= players - 2  # one of each joker in each pack
    state = doudizhu([" ".join([*cards, "Ac"]), *["Ad", "Ah", "As"][: players - 1]])
    exists = players <= (category.max_players or 4)
    assert (reason(state, "play:" + "".join(cards)) == "legal") is exists
