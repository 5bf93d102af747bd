"""The combinations of Dasan: single to quad, and runs of three or more of each, 4 to K.

A play is beaten only by the same category with as many cards and a higher rank; there are no bombs.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from games.climbing.trick import not_a_combination, not_higher, wrong_category
from games.deck import Deck, deck
from games.move import PLAY, Move
from games.rank_masks import bits, held, is_run, runs, runs_of, tally

RANKS = "456789TJQKA23"
DECK: Deck = deck(RANKS)
MULTIPLES = ("single", "pair", "triple", "quad")
RUNS = ("run", "pair-run", "triple-run", "quad-run")
CATEGORIES = MULTIPLES + RUNS
SHORTEST = 3
IN_RUNS = (1 << 10) - 1  # 4 to K


def _move(cards: int, category: str, level: int, length: int) -> Move:
    return Move(PLAY, DECK, cards, category=category, level=level, length=length, rank=RANKS[level])


def read(move: Move) -> Move:
    """The play with its category, rank and length; `not-a-combination` if it has none."""
    found = None if move.suffix or move.cards <= 0 else _classify(move.cards)
    if found is None:
        raise not_a_combination(move, "Dasan")
    return found


def _classify(cards: int) -> Move | None:
    at = tally(DECK, cards)
    ranks = held(at, 1)
    length = ranks.bit_count()
    each = cards.bit_count() // length
    if held(at, each) != ranks or cards.bit_count() != each * length:
        return None
    level = ranks.bit_length() - 1
    if length == 1:
        return _move(cards, MULTIPLES[each - 1], level, 1)
    if length < SHORTEST or ranks > IN_RUNS or not is_run(ranks):
        return None
    return _move(cards, RUNS[each - 1], level, length)


def check_beats(move: Move, table: Move) -> None:
    """IllegalMove(`wrong-category` or `not-higher`) unless a play beats the table."""
    if move.category != table.category or move.length != table.length:
        raise wrong_category(move.text, table)
    if move.level <= table.level:
        raise not_higher(move.text, table)


def listed(hand: int, table: Move | None, called: int) -> list[Move]:
    """What a hand can play on this table, in the contract's order, in the lowest suits held.

    `called` is the called card if this hand holds it, else 0: a play that shows it and the play
    that keeps it back are two.
    """
    at = tally(DECK, hand)
    if table is None:
        shapes = [(each, high, 1) for each in range(1, 5) for high in bits(held(at, each))]
        shapes += [
            (each, low + length - 1, length)
            for each in range(1, 5)
            for low, length in runs(held(at, each) & IN_RUNS, SHORTEST)
        ]
    else:
        length = table.length or 1
        each = table.cards.bit_count() // length
        mask = held(at, each)
        highs = (
            bits(mask)
            if table.category in MULTIPLES
            else (low + length - 1 for low in runs_of(mask & IN_RUNS, length))
        )
        shapes = [(each, high, length) for high in highs if high > table.level]
    shapes.sort(key=lambda shape: (shape[0] * shape[2], shape[1], shape[2] > 1, shape[0]))
    return [move for shape in shapes for move in _spelled(hand, called, *shape)]


def _spelled(hand: int, called: int, each: int, high: int, length: int) -> Iterator[Move]:
    """One shape in the lowest suits; twice where the called card may be shown or kept back."""
    category = (MULTIPLES if length == 1 else RUNS)[each - 1]
    choices: list[tuple[int, ...]] = []
    for rank in range(high - length + 1, high + 1):
        lowest = DECK.lowest(hand, rank, each)
        choices.append((lowest,))
        if not DECK.rank(called, rank):
            continue
        keeping = DECK.lowest(hand & ~called, rank, each)
        showing = called | DECK.lowest(hand & ~called, rank, each - 1)
        if keeping.bit_count() == each:
            choices[-1] = tuple(sorted((keeping, showing), key=DECK.numbers))
    for cards in product(*choices):
        yield _move(sum(cards), category, high, length)
