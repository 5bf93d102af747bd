"""The combinations of Zheng Fen: how cards are read, and what beats what.

Readings are found without trying substitutions for jokers. A run or flush starts at its lowest
natural card, or lower if it would end above the 2. Jokers complete the triple of a full house. A
joker beside a complete triple is read as a 3, which fits any other card.
"""

from typing import Final

from games.climbing import not_a_combination, not_higher, wrong_category
from games.deck import Deck
from games.errors import IllegalMove, Reason
from games.game import Category
from games.move import PLAY, Move
from games.rank_masks import rank_masks, ranks_held, ranks_in

DECK: Final = Deck("3456789TJQKA2", jokers=True)

CATEGORIES: Final = (
    Category("single", "play:Kh", "One card (Einzelkarte)."),
    Category("pair", "play:AsBj", "Two cards of a rank (Paar); both jokers are the highest."),
    Category("triple", "play:JcJdJh", "Three cards of a rank (Drilling)."),
    Category("quad", "play:9c9d9h9s", "Four cards of a rank (Vierling), except four 2s."),
    Category(
        "pair-run", "play:KcKdAhAs2c2h", "Three or more consecutive pairs, 3 to 2 (Paarsequenz)."
    ),
    Category(
        "triple-run",
        "play:3c3d3h4c4d4s5d5h5s",
        "Three or more consecutive triples, 3 to 2 (Drillingssequenz).",
    ),
    Category(
        "quad-run",
        "play:9c9d9h9sTcTdThTsJcJdJhJsQcQdQhQs",
        "Three or more consecutive quads, 3 to 2 (Vierlingssequenz).",
    ),
    Category(
        "fullhouse",
        "play:5c5d5hQcQs",
        "A triple with a pair, two neighbours of one suit, a 3 and any card, or two of 5 T K.",
    ),
    Category(
        "flush", "play:JsQsKsAs2s", "Five or more consecutive cards of one suit (Farbsequenz)."
    ),
    Category("510k", "play:5cTdKh", "A 5, a 10 and a king; only 510k-suited and 2222 beat it."),
    Category("510k-suited", "play:5hThKh", "A 5, a 10 and a king of one suit; only 2222 beats it."),
    Category("2222", "play:2c2d2h2s", "All four 2s; nothing beats it."),
)
NAMES: Final[tuple[str, ...]] = tuple([category.name for category in CATEGORIES])
SINGLE: Final = 0
QUAD: Final = 3
PAIR_RUN: Final = 4
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
"""Category (index into `NAMES`), level (rank by number) and length."""


def level_of(lowest: int, length: int) -> int:
    """Return the highest possible rank of a run or flush with `length` ranks.

    `lowest` is the rank of its lowest natural card, which is its lowest card other than a joker.
    """
    return min(TWO, lowest + length - 1)


def fits(rank: int, suit: int, other: int, other_suit: int) -> bool:
    """Return whether two natural cards may be the extra cards of a full house.

    The cards have the ranks `rank` and `other`, and the suits `suit` and `other_suit`.
    """
    if rank == other or THREE in (rank, other):
        return True
    if suit == other_suit and abs(rank - other) == 1:
        return True
    return bool(POINT_RANKS >> rank & POINT_RANKS >> other & 1)


def readings(cards: int) -> list[Reading]:
    """Return all readings of a hand of at least one card, each with the highest possible rank.

    The list is empty if the cards form no combination. If the cards are ambiguous, the list has two
    readings, first a full house, then a flush.
    """
    number = cards.bit_count()
    natural = cards & NATURAL
    if number == 1:
        return [(SINGLE, (cards.bit_length() - 1) >> 2, 1)]
    if not natural:
        return [(1, RED, 1)] if number == 2 else []
    at = rank_masks(DECK, natural)
    ranks = ranks_held(at, 1)
    if number <= 4:
        return _few(number, natural, ranks)
    results: list[Reading] = []
    if number == 5:
        triple = _fullhouse(natural, 5 - natural.bit_count(), at)
        if triple >= 0:
            results.append((FULLHOUSE, triple, 1))
    if ranks_held(at, 2):
        _run(results, number, at)
    else:
        _flush(results, natural, ranks, number)
    return results


def _few(number: int, natural: int, ranks: int) -> list[Reading]:
    high = ranks.bit_length() - 1
    if ranks & (ranks - 1) == 0:
        if number == 4 and high == TWO and natural.bit_count() == 4:
            return [(TWOS, TWO, 1)]
        return [(number - 1, high, 1)]
    if number == 3 and ranks == POINT_RANKS:
        suited = any(natural & suit == natural for suit in SUIT_CARDS)
        return [(SUITED if suited else FIVE_TEN_KING, KING, 1)]
    return []


def _run(results: list[Reading], number: int, at: int) -> None:
    size = 4 if ranks_held(at, 4) else 3 if ranks_held(at, 3) else 2
    length, rest = divmod(number, size)
    if rest or not SHORTEST_RUN <= length <= LONGEST:
        return
    ranks = ranks_held(at, 1)
    high = level_of((ranks & -ranks).bit_length() - 1, length)
    if ranks.bit_length() - 1 <= high:
        results.append((PAIR_RUN + size - 2, high, length))


def _flush(results: list[Reading], natural: int, ranks: int, number: int) -> None:
    if number > LONGEST:
        return
    high = level_of((ranks & -ranks).bit_length() - 1, number)
    if ranks.bit_length() - 1 <= high and any(natural & suit == natural for suit in SUIT_CARDS):
        results.append((FLUSH, high, number))


def _fullhouse(natural: int, jokers: int, at: int) -> int:
    """Return the highest possible rank of the triple if five cards are a full house, or else -1.

    The cards are the hand `natural` and `jokers` jokers. `at` has the rank masks of `natural`.
    """
    for rank in reversed(ranks_in(ranks_held(at, 3 - jokers))):
        rest = natural & ~(15 << 4 * rank)
        others = rest.bit_count()
        if jokers and others < 2:
            return rank  # the other joker is a 3, so any card fits
        if others < 2:  # four cards of the rank: the one whose suit fits best is an extra card
            other = (rest.bit_length() - 1) >> 2
            if fits(rank, 0, other, 0):
                return rank
            continue
        low, high = (rest & -rest).bit_length() - 1, rest.bit_length() - 1
        if fits(low >> 2, low & 3, high >> 2, high & 3):
            return rank
    return -1


def is_special(category: int) -> bool:
    """Return whether a category is special: its plays beat those of every ordinary category."""
    return category >= FIVE_TEN_KING


def beats(reading: Reading, table: Reading) -> bool:
    """Return whether a reading beats the reading `table`."""
    if is_special(reading[0]):
        return reading[0] > table[0]
    return reading[0] == table[0] and reading[1:] > table[1:]


def reading_of(move: Move) -> Reading:
    """Return the reading of a validated play."""
    return move.value, move.level, move.length or 1


def validate_play(move: Move, table: Move | None) -> Move:
    """Return a play with its category, rank, length and canonical suffix.

    `table` is the play to beat, or None for a lead. The caller must check that the cards are held.

    Raises:
        IllegalMove: if the cards form no combination or not the one that the suffix names, if the
            play does not beat `table`, or if a lead without a suffix can be read in two ways.
    """
    options = readings(move.cards) if move.cards > 0 else []
    ambiguous = len(options) > 1
    if move.suffix:
        options = [reading for reading in options if move.suffix == "=" + NAMES[reading[0]]]
    if not options:
        raise not_a_combination(move, "Zheng Fen")
    if table is not None:
        beaten = reading_of(table)
        options = [
            reading for reading in options if reading[0] == beaten[0] or is_special(reading[0])
        ]
        if not options:
            same = [] if is_special(table.value) else [f"a higher {table.category}"]
            specials = NAMES[max(FIVE_TEN_KING, table.value + 1) :]
            raise wrong_category(move.text, table, [*same, *specials])
        if not beats(options[0], beaten):
            raise not_higher(move.text, table)
    if len(options) > 1:
        raise IllegalMove(
            Reason.AMBIGUOUS, f"{move.text} is a flush and a full house: add =flush or =fullhouse."
        )
    return build_move(move.cards, options[0], ambiguous)


def build_move(cards: int, reading: Reading, ambiguous: bool) -> Move:
    """Return the play of these cards with this reading. If `ambiguous` is true, add a suffix."""
    category, level, length = reading
    name = NAMES[category]
    return Move(PLAY, DECK, cards, category, name, level, length, "=" + name if ambiguous else "")
