"""A second, brute-force reading of Zheng Fen's cards: every joker is tried as every card.

The module was written from the German text and the decisions, for natural cards only, and shares no
code with `games/`. Cards are names.
"""

from functools import cache
from itertools import combinations, product

RANKS = "3456789TJQKA2"
SUITS = "cdhs"
CARDS = [rank + suit for rank in RANKS for suit in SUITS]
DECK = [*CARDS, "Bj", "Rj"]
JOKERS = ("Bj", "Rj")
ORDER = [*RANKS, "Bj", "Rj"]
CATEGORIES = [
    *["single", "pair", "triple", "quad", "pair-run", "triple-run", "quad-run", "fullhouse"],
    *["flush", "510k", "510k-suited", "2222"],
]
SPECIALS = CATEGORIES[-3:]

Cards = tuple[str, ...]
Play = tuple[str, str, int]  # category, rank, length


def in_row(ranks: list[str]) -> bool:
    """Whether distinct ranks are consecutive. Runs do not wrap around."""
    return "".join(sorted(ranks, key=RANKS.index)) in RANKS


@cache
def rank_play(ranks: str) -> tuple[str, str, int] | None:
    """The category, rank and length of natural ranks, without full houses, flushes and specials.

    None if the ranks are neither one to four of a kind nor a run of pairs, triples or quads.
    """
    kinds = sorted(set(ranks), key=RANKS.index)
    counts = {ranks.count(rank) for rank in kinds}
    if len(counts) != 1:
        return None
    size = counts.pop()
    if len(kinds) == 1 and size <= 4:
        return ("single", "pair", "triple", "quad")[size - 1], kinds[0], 1
    if len(kinds) >= 3 and 2 <= size <= 4 and in_row(kinds):
        return ("pair-run", "triple-run", "quad-run")[size - 2], kinds[-1], len(kinds)
    return None


def beside(card: str, other: str) -> bool:
    """Whether two natural cards can be the other two cards of a full house."""
    if card[0] == other[0]:
        return True
    if card[1] == other[1] and in_row([card[0], other[0]]):
        return True
    if "3" in (card[0], other[0]):
        return True
    return card[0] in "5TK" and other[0] in "5TK"


def substituted(cards: Cards, candidates: list[str]) -> list[Cards]:
    """All ways to replace each joker among the cards by a candidate."""
    choices = [candidates if card in JOKERS else [card] for card in cards]
    return list(product(*choices))


def bare(cards: Cards) -> Cards:
    """The ranks of cards. Jokers stay as they are."""
    return tuple(card if card in JOKERS else card[0] for card in cards)


@cache
def triple_ranks(cards: Cards) -> set[str]:
    """The ranks for which three cards can be a triple."""
    return {ranks[0] for ranks in substituted(bare(cards), [*RANKS]) if len(set(ranks)) == 1}


@cache
def can_accompany(cards: Cards) -> bool:
    """Whether two cards can be the other two cards of a full house."""
    return any(beside(card, other) for card, other in substituted(cards, CARDS))


def best(plays: list[tuple[str, int]]) -> tuple[str, int]:
    """The play of the highest rank, or the longest of several, as (rank, length)."""
    return max(plays, key=lambda play: (ORDER.index(play[0]), play[1]))


def readings(cards: Cards) -> dict[str, tuple[str, int]]:
    """The categories that a set of cards can have, each with its highest (rank, length)."""
    if len(cards) == 1:
        return {"single": (cards[0] if cards[0] in JOKERS else cards[0][0], 1)}
    if set(cards) == set(JOKERS):
        return {"pair": ("Rj", 1)}
    natural = [card for card in cards if card not in JOKERS]
    ways: dict[str, list[tuple[str, int]]] = {}
    if len(natural) == len(cards):
        if sorted(card[0] for card in cards) == ["5", "K", "T"]:
            suited = len({card[1] for card in cards}) == 1
            return {"510k-suited" if suited else "510k": ("K", 1)}
        if [card[0] for card in cards] == ["2"] * 4:
            return {"2222": ("2", 1)}
    suited = len(cards) >= 5 and len({card[1] for card in natural}) == 1
    for ranks in substituted(bare(cards), [*RANKS]):
        play = rank_play("".join(sorted(ranks)))
        if play:
            ways.setdefault(play[0], []).append(play[1:])
        if suited and len(set(ranks)) == len(ranks) and in_row([*ranks]):
            top = max(ranks, key=RANKS.index)
            ways.setdefault("flush", []).append((top, len(ranks)))
    if len(cards) == 5:
        for three in combinations(cards, 3):
            two = tuple(card for card in cards if card not in three)
            if can_accompany(two):
                ways.setdefault("fullhouse", []).extend((rank, 1) for rank in triple_ranks(three))
    return {category: best(plays) for category, plays in ways.items() if plays}


def order(cards: Cards, category: str, rank: str) -> tuple[int, int, int, list[int]]:
    """The sort key of a play in the list of plays."""
    return (
        len(cards),
        ORDER.index(rank),
        CATEGORIES.index(category),
        [DECK.index(card) for card in cards],
    )


def beats(play: Play, table: Play) -> bool:
    """Whether a play may follow the play on the table."""
    if play[0] in SPECIALS:
        if table[0] not in SPECIALS:
            return True
        return SPECIALS.index(play[0]) > SPECIALS.index(table[0])
    higher = (ORDER.index(play[1]), play[2]) > (ORDER.index(table[1]), table[2])
    return play[0] == table[0] and higher


def all_plays(hand: list[str]) -> dict[Cards, dict[str, tuple[str, int]]]:
    """Every non-empty subset of a hand, in deck order, with its readings."""
    ordered = sorted(hand, key=DECK.index)
    return {
        cards: readings(cards)
        for number in range(1, len(ordered) + 1)
        for cards in combinations(ordered, number)
    }


def listed(
    plays: dict[Cards, dict[str, tuple[str, int]]], table: Play | None
) -> list[tuple[str, str, str, int]]:
    """The legal plays in the API contract's order: move, category, rank, length."""
    entries = []
    for cards, ways in plays.items():
        for category, (rank, length) in ways.items():
            if table is None or beats((category, rank, length), table):
                suffix = f"={category}" if len(ways) > 1 else ""
                move = "play:" + "".join(cards) + suffix
                entries.append((order(cards, category, rank), (move, category, rank, length)))
    return [play for _, play in sorted(entries)]


def verdict(
    cards: Cards, ways: dict[str, tuple[str, int]], table: Play | None, suffix: str = ""
) -> str:
    """Why it is illegal to play these cards, all of which are held, or `legal`.

    `ways` are the readings of the cards. `suffix` is the category that the move names, such as
    `=flush`, or "" if it names none.
    """
    asked = {category: way for category, way in ways.items() if suffix in ("", f"={category}")}
    if not asked:
        return "not-a-combination"
    if table is not None:
        fitting = {
            category: way
            for category, way in asked.items()
            if category == table[0] or category in SPECIALS
        }
        if not fitting:
            return "wrong-category"
        asked = {
            category: way for category, way in fitting.items() if beats((category, *way), table)
        }
        if not asked:
            return "not-higher"
    return "ambiguous" if len(asked) > 1 else "legal"
