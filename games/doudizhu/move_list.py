"""The list of legal moves of a trick of Dou Dizhu."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import overload

from games.doudizhu.combinations import Combinations
from games.doudizhu.play_groups import KICKER_SIZE, Group, Kickers, category_of, level_of
from games.errors import IllegalMove
from games.game import LegalMoves
from games.move import PASS, PLAY, Move, parse
from games.rank_masks import STRIDE, rank_masks


class TrickMoves(LegalMoves):
    """The legal moves of a trick: `pass` unless leading, then the plays of each group."""

    def __init__(self, combinations: Combinations, hand: int, table: Move | None) -> None:
        masks = rank_masks(combinations.deck, hand)
        self._combinations = combinations
        self._hand = hand
        self._masks = masks
        self._table = table
        if table is None:
            self._groups = combinations.leads(masks)
            self._first = 0
            # Without a triple there are no kickers.
            self._simple = masks >> (2 * STRIDE) == 0
        else:
            self._groups = combinations.follows(masks, table)
            self._first = 1
            self._simple = not KICKER_SIZE[table.value]
        self._ends: list[int] | None = None

    def _kickers(self, group: Group) -> Kickers | None:
        if not KICKER_SIZE[category_of(group)]:
            return None
        return self._combinations.kickers(self._masks, group)

    def _counted(self) -> list[int]:
        """For each group the number of moves up to its end."""
        ends = self._ends
        if ends is None:
            ends = []
            total = self._first
            for group in self._groups:
                kickers = self._kickers(group)
                total += 1 if kickers is None else kickers.count()
                ends.append(total)
            self._ends = ends
        return ends

    def __len__(self) -> int:
        if self._simple:
            return self._first + len(self._groups)
        ends = self._counted()
        return ends[-1] if ends else self._first

    @overload
    def __getitem__(self, index: int) -> Move: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Move, ...]: ...
    def __getitem__(self, index: int | slice) -> Move | tuple[Move, ...]:
        if not isinstance(index, int):
            return tuple(self)[index]
        number = len(self)
        if index < 0:
            index += number
        if not 0 <= index < number:
            raise IndexError(f"There are only {number} legal moves.")
        return self._nth(index)

    def _nth(self, index: int) -> Move:
        if index < self._first:
            return Move(PASS, self._combinations.deck)
        if self._simple:
            return self._combinations.build(self._hand, self._groups[index - self._first], ())
        ends = self._counted()
        place = bisect_right(ends, index)
        group = self._groups[place]
        kickers = self._kickers(group)
        if kickers is None:
            return self._combinations.build(self._hand, group, ())
        before = ends[place - 1] if place else self._first
        return self._combinations.build(self._hand, group, kickers.nth(index - before))

    def __iter__(self) -> Iterator[Move]:
        return iter(self._all())

    def __contains__(self, move: object) -> bool:
        if not isinstance(move, str | Move):
            return False
        deck = self._combinations.deck
        try:
            play = parse(str(move), deck)
            if play.kind == PASS:
                return self._table is not None
            if play.kind != PLAY or play.cards < 0 or not deck.holds(self._hand, play.cards):
                return False
            play = self._combinations.identify(play)
            if self._table is not None:
                self._combinations.check_beats(play, self._table)
        except IllegalMove:
            return False
        return play.text == str(move) and self._is_lowest(play.cards)

    def _is_lowest(self, cards: int) -> bool:
        """Whether a play has the lowest suits held, as listed plays do."""
        deck = self._combinations.deck
        for rank in range(len(deck.ranks)):
            named = deck.rank(cards, rank)
            if named and named != deck.lowest(self._hand, rank, deck.count(named)):
                return False
        return True

    def _all(self) -> list[Move]:
        build = self._combinations.build
        moves = [Move(PASS, self._combinations.deck)] if self._first else []
        for group in self._groups:
            kickers = self._kickers(group)
            sets = [()] if kickers is None else kickers.all()
            moves += [build(self._hand, group, ranks) for ranks in sets]
        return moves

    def texts(self) -> list[str]:
        """All moves as strings.

        They are put together from the names of each rank's cards: by way of `Move`s, the longest
        list would take four times as long.
        """
        found = [PASS] if self._first else []
        for group in self._groups:
            core = self._combinations.build(self._hand, group, ()).text
            kickers = self._kickers(group)
            found += [core] if kickers is None else self._with_kickers(core, group, kickers)
        return found

    def _with_kickers(self, core: str, group: Group, kickers: Kickers) -> list[str]:
        """The texts of a group's plays; `core` is the play without kickers."""
        deck, level = self._combinations.deck, level_of(group)
        size = KICKER_SIZE[category_of(group)]
        ranks = range(len(deck.ranks))
        names = [deck.text(deck.lowest(self._hand, rank, size)) for rank in ranks]
        pairs = [deck.text(deck.lowest(self._hand, rank, 2)) for rank in ranks]
        cards = core.removeprefix("play:")
        found = []
        for attached in kickers.all():
            if len(attached) == 2 and attached[0] == attached[1]:  # a pair as two single kickers
                low = pairs[attached[0]] if attached[0] < level else ""
                high = "" if low else pairs[attached[0]]
            else:
                low = "".join([names[rank] for rank in attached if rank < level])
                high = "".join([names[rank] for rank in attached if rank > level])
            found.append(f"play:{low}{cards}{high}")
        return found
