"""The list of legal moves in a trick of Dou Dizhu."""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import combinations
from math import comb

from games.doudizhu.combinations import (
    BLACK,
    JOKERS,
    KICKER_SIZE,
    SIZE,
    Combinations,
    Group,
    category_of,
    length_of,
    level_of,
)
from games.game import LegalMoves
from games.move import PASS, Move
from games.rank_masks import STRIDE, rank_masks, ranks_held, ranks_in


class Kickers:
    """The sets of kickers for one group, in the API contract's order. Each set is a tuple of ranks.

    A set has `number` different ranks of `mask`, but not both jokers if `no_rocket` is true. Each
    rank of the mask `doubles` also makes a set, in which it occurs twice. `number` must then be 2.
    """

    def __init__(self, mask: int, number: int, no_rocket: bool, doubles: int = 0) -> None:
        self._mask = mask
        self._number = number
        self._jokers = no_rocket and number >= 2 and mask & JOKERS == JOKERS
        self._doubles = doubles

    def count(self) -> int:
        """Return the number of sets."""
        ranks = self._mask.bit_count()
        number = ranks if self._number == 1 else comb(ranks, self._number)
        if self._jokers:
            number -= comb(ranks - 2, self._number - 2)
        return number + self._doubles.bit_count()

    def all(self) -> list[tuple[int, ...]]:
        """Return all sets, each with its ranks ascending."""
        sets = list(combinations(ranks_in(self._mask), self._number))
        if self._jokers:
            sets = [ranks for ranks in sets if ranks[-2] != BLACK]
        if self._doubles:
            sets += [(rank, rank) for rank in ranks_in(self._doubles)]
            sets.sort()
        return sets


class DoudizhuMoves(LegalMoves):
    """The legal moves in a trick: first a pass if there is a play to beat, then the plays."""

    def __init__(self, plays: Combinations, hand: int, table: Move | None) -> None:
        masks = rank_masks(plays.deck, hand)
        self._plays = plays
        self._hand = hand
        self._masks = masks
        if table is None:
            self._groups = plays.leads(masks)
            self._first = 0
            # Without a triple there are no kickers.
            self._simple = masks >> (2 * STRIDE) == 0
        else:
            self._groups = plays.follows(masks, table)
            self._first = 1
            self._simple = not KICKER_SIZE[table.value]
        self._starts: list[int] | None = None

    def _kickers(self, group: Group) -> Kickers | None:
        category, length = category_of(group), length_of(group)
        size = KICKER_SIZE[category]
        if not size:
            return None
        core = ((1 << length) - 1) << (level_of(group) - length + 1)
        others = ranks_held(self._masks, size) & ~core
        if SIZE[category] == 3:
            return Kickers(others, length, size == 1)
        pairs = size == 1 and self._plays.pair_as_solos
        doubles = ranks_held(self._masks, 2) & others if pairs else 0
        return Kickers(others, 2, size == 1, doubles)

    def _counted(self) -> list[int]:
        """Return the index of each group's first move, followed by the number of all moves."""
        starts = self._starts
        if starts is None:
            total = self._first
            starts = self._starts = [total]
            for group in self._groups:
                kickers = self._kickers(group)
                total += 1 if kickers is None else kickers.count()
                starts.append(total)
        return starts

    def __len__(self) -> int:
        return self._first + len(self._groups) if self._simple else self._counted()[-1]

    def __getitem__(self, index: int) -> Move:
        index = range(len(self))[index]
        if index < self._first:
            return Move(PASS, self._plays.deck)
        if self._simple:
            return self._plays.build(self._hand, self._groups[index - self._first], ())
        starts = self._counted()
        place = bisect_right(starts, index) - 1
        group = self._groups[place]
        kickers = self._kickers(group)
        chosen = () if kickers is None else kickers.all()[index - starts[place]]
        return self._plays.build(self._hand, group, chosen)

    def __iter__(self) -> Iterator[Move]:
        plays, hand = self._plays, self._hand
        moves = [Move(PASS, plays.deck)] if self._first else []
        for group in self._groups:
            kickers = None if self._simple else self._kickers(group)
            sets: list[tuple[int, ...]] = [()] if kickers is None else kickers.all()
            moves += [plays.build(hand, group, ranks) for ranks in sets]
        return iter(moves)

    def texts(self) -> list[str]:
        """Return all moves as strings. Creating the moves first would take four times as long."""
        texts = [PASS] if self._first else []
        for group in self._groups:
            core = self._plays.build(self._hand, group, ()).text
            kickers = self._kickers(group)
            texts += [core] if kickers is None else self._with_kickers(core, group, kickers)
        return texts

    def _with_kickers(self, core: str, group: Group, kickers: Kickers) -> list[str]:
        deck, level = self._plays.deck, level_of(group)
        size = KICKER_SIZE[category_of(group)]
        ranks = range(len(deck.ranks))
        names = [deck.text(deck.lowest(self._hand, rank, size)) for rank in ranks]
        pairs = [deck.text(deck.lowest(self._hand, rank, 2)) for rank in ranks]
        cards = core.removeprefix("play:")
        texts = []
        for attached in kickers.all():
            if len(attached) == 2 and attached[0] == attached[1]:  # a pair as two single kickers
                low = pairs[attached[0]] if attached[0] < level else ""
                high = "" if low else pairs[attached[0]]
            else:
                low = "".join([names[rank] for rank in attached if rank < level])
                high = "".join([names[rank] for rank in attached if rank > level])
            texts.append(f"play:{low}{cards}{high}")
        return texts
