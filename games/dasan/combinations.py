"""The combinations of Dasan: one to four cards of a rank, or of each rank in a run."""

from collections.abc import Iterator
from itertools import product
from typing import Final

from games.climbing import not_a_combination, not_higher, same_kind, wrong_category
from games.deck import Deck
from games.move import PLAY, Move
from games.rank_masks import is_run, rank_masks, ranks_held, ranks_in, run_starts, runs

RANKS: Final = "456789TJQKA23"
DECK: Final = Deck(RANKS)
MULTIPLES: Final = ("single", "pair", "triple", "quad")
RUNS: Final = ("run", "pair-run", "triple-run", "quad-run")
SHORTEST: Final = 3
IN_RUNS: Final = (1 << 10) - 1  # 4 to K
CALLABLE: Final = 7  # the ranks 4 to T


def _move(cards: int, category: str, level: int, length: int) -> Move:
    return Move(PLAY, DECK, cards, category=category, level=level, length=length)


def identify(move: Move) -> Move:
    """Return a play with its category, rank and length.

    Raises:
        IllegalMove: if the cards form no combination, or if the play has a suffix.
    """
    play = None if move.suffix or move.cards <= 0 else _classify(move.cards)
    if play is None:
        raise not_a_combination(move, "Dasan")
    return play


def _classify(cards: int) -> Move | None:
    masks = rank_masks(DECK, cards)
    ranks = ranks_held(masks, 1)
    length = ranks.bit_count()
    size = cards.bit_count() // length
    if ranks_held(masks, size) != ranks or cards.bit_count() != size * length:
        return None
    level = ranks.bit_length() - 1
    if length == 1:
        return _move(cards, MULTIPLES[size - 1], level, 1)
    if length < SHORTEST or ranks > IN_RUNS or not is_run(ranks):
        return None
    return _move(cards, RUNS[size - 1], level, length)


def check_beats(move: Move, table: Move) -> None:
    """Check that a play beats the play `table`. Both must be results of `identify`.

    Raises:
        IllegalMove: if the play does not beat `table`.
    """
    if move.category != table.category or move.length != table.length:
        raise wrong_category(move.text, table, [same_kind(table)])
    if move.level <= table.level:
        raise not_higher(move.text, table)


def legal_plays(hand: int, table: Move | None, called: int) -> list[Move]:
    """Return the legal plays of a hand in the API contract's order, each in the lowest suits held.

    `table` is the play to beat, or None. `called` is the called card, as a hand, if `hand` contains
    that card, and otherwise 0. A play that can be made with or without the card is listed both
    ways. A pass is not listed.
    """
    groups = _leads(hand) if table is None else _follows(hand, table)
    groups.sort(key=lambda group: (group[0] * group[2], group[1], group[2] > 1, group[0]))
    return [move for group in groups for move in _plays(hand, called, *group)]


def _leads(hand: int) -> list[tuple[int, int, int]]:
    """Return what a hand can lead, as tuples (cards per rank, highest rank, number of ranks)."""
    masks = rank_masks(DECK, hand)
    groups = []
    for size in range(1, 5):
        ranks = ranks_held(masks, size)
        groups += [(size, rank, 1) for rank in ranks_in(ranks)]
        for low, length in runs(ranks & IN_RUNS, SHORTEST):
            groups.append((size, low + length - 1, length))
    return groups


def _follows(hand: int, table: Move) -> list[tuple[int, int, int]]:
    length = table.length or 1
    size = table.cards.bit_count() // length
    ranks = ranks_held(rank_masks(DECK, hand), size)
    if table.category not in MULTIPLES:
        ranks = run_starts(ranks & IN_RUNS, length) << (length - 1)
    return [(size, rank, length) for rank in ranks_in(ranks) if rank > table.level]


def _plays(hand: int, called: int, size: int, high: int, length: int) -> Iterator[Move]:
    category = (MULTIPLES if length == 1 else RUNS)[size - 1]
    choices: list[tuple[int, ...]] = []
    for rank in range(high - length + 1, high + 1):
        choices.append((DECK.lowest(hand, rank, size),))
        if not DECK.rank(called, rank):
            continue
        keeping = DECK.lowest(hand & ~called, rank, size)
        showing = called | DECK.lowest(hand & ~called, rank, size - 1)
        if keeping.bit_count() == size:
            choices[-1] = tuple(sorted((keeping, showing), key=DECK.numbers))
    for cards in product(*choices):
        yield _move(sum(cards), category, high, length)
