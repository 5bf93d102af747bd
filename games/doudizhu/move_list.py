"""The list of legal moves of a trick of Dou Dizhu."""

from __future__ import annotations

from games.climbing.move_list import GroupedMoves
from games.doudizhu.combinations import Combinations
from games.doudizhu.play_groups import KICKER_SIZE, Group, Kickers, category_of, level_of
from games.move import PASS, Move
from games.rank_masks import STRIDE, rank_masks


class TrickMoves(GroupedMoves):
    """The legal moves of a trick."""

    __slots__ = ("_combinations", "_groups", "_hand", "_masks")

    def __init__(self, combinations: Combinations, hand: int, table: Move | None) -> None:
        super().__init__(combinations.deck, table is not None)
        masks = rank_masks(combinations.deck, hand)
        self._combinations = combinations
        self._hand = hand
        self._masks = masks
        if table is None:
            self._groups = combinations.leads(masks)
            simple = masks >> (2 * STRIDE) == 0  # without a triple there are no kickers
        else:
            self._groups = combinations.follows(masks, table)
            simple = not KICKER_SIZE[table.value]
        if simple:
            first = int(self.passing)
            self._starts = range(first, first + len(self._groups) + 1)

    def _kickers(self, group: Group) -> Kickers | None:
        if not KICKER_SIZE[category_of(group)]:
            return None
        return self._combinations.kickers(self._masks, group)

    def counts(self) -> list[int]:
        """The number of plays of each group."""
        found = []
        for group in self._groups:
            kickers = self._kickers(group)
            found.append(1 if kickers is None else kickers.count())
        return found

    def play(self, group: int, index: int) -> Move:
        """One of the plays of a group, both by index."""
        chosen = self._groups[group]
        ranks: tuple[int, ...] = ()
        if KICKER_SIZE[category_of(chosen)]:
            ranks = self._combinations.kickers(self._masks, chosen).nth(index)
        return self._combinations.build(self._hand, chosen, ranks)

    def texts(self) -> list[str]:
        """All moves as strings.

        They are put together from the names of each rank's cards: by way of `Move`s, the longest
        list would take four times as long.
        """
        found = [PASS] if self.passing else []
        for group in self._groups:
            core = self._combinations.build(self._hand, group, ()).text
            kickers = self._kickers(group)
            found += [core] if kickers is None else self._with_kickers(core, group, kickers)
        return found

    def _with_kickers(self, core: str, group: Group, kickers: Kickers) -> list[str]:
        """The texts of a group's plays; `core` is the play without kickers."""
        deck, level = self.deck, level_of(group)
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
