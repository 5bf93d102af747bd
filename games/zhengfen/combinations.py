"""The combinations of Zheng Fen: what cards can be read as, and what beats what.

Nothing here tries substitutions for jokers. Where a run or flush of a given length can lie follows
from its lowest natural card alone: it starts there, or lower once its top is a 2. A full house is
a triple with whatever jokers it lacks; a joker left over beside it always fits, as a 3.

Source: the categories A to I, their order and the special categories of the German text.
"""

from __future__ import annotations

from typing import Final

from games.climbing.trick import not_a_combination, not_higher, wrong_category
from games.deck import Deck, deck
from games.errors import IllegalMove, Reason
from games.move import PLAY, Move
from games.rank_masks import bits, held, tally

DECK: Final[Deck] = deck("3456789TJQKA2", jokers=True)

CATEGORIES: Final = (
    "single",
    "pair",
    "triple",
    "quad",
    "pair-run",
    "triple-run",
    "quad-run",
    "fullhouse",
    "flush",
    "510k",
    "510k-suited",
    "2222",
)
SINGLE: Final = 0
QUAD: Final = 3
PAIR_RUN: Final = 4
QUAD_RUN: Final = 6
FULLHOUSE: Final = 7
FLUSH: Final = 8
FIVE_TEN_KING: Final = 9
SUITED: Final = 10
TWOS: Final = 11

THREE: Final = 0
TWO: Final = 12
BLACK: Final = 13
RED: Final = 14
FIVE, TEN, KING = 2, 7, 10
POINT_RANKS: Final = 1 << FIVE | 1 << TEN | 1 << KING

NATURAL: Final = (1 << 52) - 1
JOKERS: Final = 1 << 52 | 1 << 56
SHORTEST_RUN: Final = 3
SHORTEST_FLUSH: Final = 5
LONGEST: Final = 13
SUIT_CARDS: Final = tuple(0x1111111111111 << suit for suit in range(4))

Reading = tuple[int, int, int]
"""Category (index into `CATEGORIES`), level (rank by number) and length."""


def level_of(lowest: int, length: int) -> int:
    """The highest rank that a run or flush of this length with this lowest natural rank can have.

    Jokers extend it upwards, and downwards once its top is a 2.
    """
    return min(TWO, lowest + length - 1)


def fits(rank: int, suit: int, other: int, other_suit: int) -> bool:
    """Whether two natural cards may lie beside a triple (four types of full house)."""
    if rank == other or THREE in (rank, other):
        return True
    if suit == other_suit and abs(rank - other) == 1:
        return True
    return bool(POINT_RANKS >> rank & POINT_RANKS >> other & 1)


def readings(cards: int) -> list[Reading]:
    """All that a set of cards can be read as, each at the highest rank it can have there.

    At most two: only a full house can be something else too, a flush, and comes first.
    """
    number = cards.bit_count()
    natural = cards & NATURAL
    if number == 1:
        return [(SINGLE, (cards.bit_length() - 1) >> 2, 1)]
    if not natural:
        return [(1, RED, 1)] if number == 2 else []
    at = tally(DECK, natural)
    ranks = held(at, 1)
    if number <= 4:
        return _few(number, natural, ranks)
    if number == 5:
        found: list[Reading] = []
        triple = _fullhouse(natural, 5 - natural.bit_count(), at)
        if triple >= 0:
            found.append((FULLHOUSE, triple, 1))
        if not held(at, 2):
            _flush(found, natural, ranks, 5)
        return found
    found = []
    if held(at, 2):
        _run(found, number, at)
    else:
        _flush(found, natural, ranks, number)
    return found


def _few(number: int, natural: int, ranks: int) -> list[Reading]:
    """Two to four cards, at least one of them natural."""
    high = ranks.bit_length() - 1
    if ranks & (ranks - 1) == 0:
        if number == 4 and high == TWO and natural.bit_count() == 4:
            return [(TWOS, TWO, 1)]
        return [(number - 1, high, 1)]
    if number == 3 and ranks == POINT_RANKS:
        suited = any(natural & suit == natural for suit in SUIT_CARDS)
        return [(SUITED if suited else FIVE_TEN_KING, KING, 1)]
    return []


def _run(found: list[Reading], number: int, at: int) -> None:
    """A run of multiples. Two jokers cannot hide how large these are: the largest rank shows it."""
    size = 4 if held(at, 4) else 3 if held(at, 3) else 2
    length, rest = divmod(number, size)
    if rest or not SHORTEST_RUN <= length <= LONGEST:
        return
    ranks = held(at, 1)
    high = level_of((ranks & -ranks).bit_length() - 1, length)
    if ranks.bit_length() - 1 <= high:
        found.append((PAIR_RUN + size - 2, high, length))


def _flush(found: list[Reading], natural: int, ranks: int, number: int) -> None:
    """A flush; no rank is there twice."""
    if number > LONGEST:
        return
    high = level_of((ranks & -ranks).bit_length() - 1, number)
    if ranks.bit_length() - 1 <= high and any(natural & suit == natural for suit in SUIT_CARDS):
        found.append((FLUSH, high, number))


def _fullhouse(natural: int, jokers: int, at: int) -> int:
    """The highest triple of a full house of five cards, -1 if they are none."""
    for rank in reversed(bits(held(at, 3 - jokers))):
        rest = natural & ~(15 << 4 * rank)
        others = rest.bit_count()
        if jokers and others < 2:
            return rank  # a joker is left over, and beside it any card fits
        if others < 2:  # all four of the triple's rank: whichever suit fits is the extra card
            other = (rest.bit_length() - 1) >> 2
            if fits(rank, 0, other, 0):
                return rank
            continue
        low, high = (rest & -rest).bit_length() - 1, rest.bit_length() - 1
        if fits(low >> 2, low & 3, high >> 2, high & 3):
            return rank
    return -1


def is_special(category: int) -> bool:
    """Whether a category may be played at any time."""
    return category >= FIVE_TEN_KING


def beats(reading: Reading, table: Reading) -> bool:
    """Whether a reading is higher than another of its category, or as a special beats it."""
    if is_special(reading[0]):
        return reading[0] > table[0]
    return reading[0] == table[0] and reading[1:] > table[1:]


def reading_of(move: Move) -> Reading:
    """The reading that a move was given."""
    return CATEGORIES.index(move.category or ""), move.level, move.length or 1


def judge(move: Move, table: Move | None) -> Move:
    """A play with its category, rank, length and canonical suffix, to lead or to beat `table`.

    IllegalMove with the first of `not-a-combination`, `wrong-category`, `not-higher` and
    `ambiguous` that applies.
    """
    found = readings(move.cards) if move.cards > 0 else []
    twofold = len(found) > 1
    if move.suffix:
        found = [reading for reading in found if move.suffix == "=" + CATEGORIES[reading[0]]]
    if not found:
        raise not_a_combination(move, "Zheng Fen")
    if table is not None:
        beaten = reading_of(table)
        found = [
            reading for reading in found if reading[0] == beaten[0] or reading[0] >= FIVE_TEN_KING
        ]
        if not found:
            raise wrong_category(move.text, table)
        if not beats(found[0], beaten):
            raise not_higher(move.text, table)
    if len(found) > 1:
        raise IllegalMove(
            Reason.AMBIGUOUS,
            f"{move.text} can be read as a flush and as a full house: add =flush or =fullhouse.",
        )
    return spell(move.cards, found[0], twofold)


def spell(cards: int, reading: Reading, twofold: bool) -> Move:
    """The move that plays these cards with this reading; `twofold` if there is another."""
    category, level, length = reading
    return Move(
        PLAY,
        DECK,
        cards,
        category=CATEGORIES[category],
        level=level,
        length=length,
        rank=DECK.ranks[level],
        suffix="=" + CATEGORIES[category] if twofold else "",
    )
