"""The list of legal moves in a trick of Zheng Fen."""

from bisect import bisect_right
from collections.abc import Iterator

from games.game import LegalMoves
from games.move import PASS, Move
from games.zhengfen.combinations import (
    DECK,
    FLUSH,
    FULLHOUSE,
    NAMES,
    SHORTEST_FLUSH,
    Reading,
    build_move,
)
from games.zhengfen.move_generator import MoveGenerator
from games.zhengfen.play_groups import Group, mirror, texts_of


class ZhengfenMoves(LegalMoves):
    """The legal moves in a trick: first a pass if there is a play to beat, then the plays."""

    def __init__(self, hand: int, table: Reading | None) -> None:
        generator = MoveGenerator(hand)
        self._generator = generator
        self._passing = table is not None
        self.groups = generator.groups(table)
        total = int(self._passing)
        self._starts = [total]
        for group in self.groups:
            total += group.count
            self._starts.append(total)
        self._ambiguous: set[int] | None = None

    def _suffixed(self, group: Group) -> set[int]:
        """Return all plays of the hand that need a suffix, or an empty set for some groups.

        The set is empty if the group cannot have plays that need a suffix. Plays are mirrored.
        """
        category, _, length = group.reading
        if category != FULLHOUSE and (category != FLUSH or length != SHORTEST_FLUSH):
            return set()
        if self._ambiguous is None:
            self._ambiguous = self._generator.ambiguous()
        return self._ambiguous

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, index: int) -> Move:
        index = range(len(self))[index]
        if self._passing and index == 0:
            return Move(PASS, DECK)
        place = bisect_right(self._starts, index) - 1
        group = self.groups[place]
        cards = group.plays()[index - self._starts[place]]
        return build_move(mirror(cards), group.reading, cards in self._suffixed(group))

    def __iter__(self) -> Iterator[Move]:
        moves = [Move(PASS, DECK)] if self._passing else []
        for group in self.groups:
            suffixed, reading = self._suffixed(group), group.reading
            moves += [
                build_move(mirror(cards), reading, cards in suffixed) for cards in group.plays()
            ]
        return iter(moves)

    def texts(self) -> list[str]:
        """Return all moves as strings."""
        texts = [PASS] if self._passing else []
        for group in self.groups:
            plays = group.plays()
            group_texts = texts_of(plays)
            suffixed = self._suffixed(group)
            if suffixed:
                suffix = "=" + NAMES[group.reading[0]]
                for place, cards in enumerate(plays):
                    if cards in suffixed:
                        group_texts[place] += suffix
            texts += group_texts
        return texts
