"""The list of legal moves of a trick of Zheng Fen."""

from __future__ import annotations

from games.climbing.move_list import GroupedMoves
from games.move import PASS, Move
from games.zhengfen.combinations import (
    CATEGORIES,
    DECK,
    FLUSH,
    FULLHOUSE,
    SHORTEST_FLUSH,
    Reading,
    build_move,
)
from games.zhengfen.move_generator import MoveGenerator
from games.zhengfen.play_groups import Group, mirror, texts_of


class TrickMoves(GroupedMoves):
    """The legal moves of a trick."""

    __slots__ = ("_ambiguous", "_generator", "_groups", "_table")

    def __init__(self, hand: int, table: Reading | None) -> None:
        super().__init__(DECK, table is not None)
        self._generator = MoveGenerator(hand)
        self._table = table
        self._groups: list[Group] | None = None
        self._ambiguous: set[int] | None = None

    def groups(self) -> list[Group]:
        """The groups of plays, in order."""
        groups = self._groups
        if groups is None:
            table = self._table
            groups = self._generator.all() if table is None else self._generator.above(table)
            self._groups = groups
        return groups

    def counts(self) -> list[int]:
        """The number of plays of each group."""
        return [group.count for group in self.groups()]

    def _suffixed(self, group: Group) -> set[int]:
        """The plays that need a suffix, if the group may have some."""
        category, _, length = group.reading
        if category != FULLHOUSE and (category != FLUSH or length != SHORTEST_FLUSH):
            return set()
        if self._ambiguous is None:
            self._ambiguous = self._generator.ambiguous()
        return self._ambiguous

    def play(self, group: int, index: int) -> Move:
        """One of the plays of a group, both by index."""
        chosen = self.groups()[group]
        cards = chosen.plays()[index]
        return build_move(mirror(cards), chosen.reading, cards in self._suffixed(chosen))

    def texts(self) -> list[str]:
        """All moves as strings."""
        found = [PASS] if self.passing else []
        for group in self.groups():
            plays = group.plays()
            texts = texts_of(plays)
            suffixed = self._suffixed(group)
            if suffixed:
                suffix = "=" + CATEGORIES[group.reading[0]]
                for place, cards in enumerate(plays):
                    if cards in suffixed:
                        texts[place] += suffix
            found += texts
        return found
