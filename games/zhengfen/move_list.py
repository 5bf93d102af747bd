"""The list of legal plays of Zheng Fen, complete and in the contract's order.

Plays are made group by group, each set of cards once, at the highest rank it can have; which
cards are a play follows from the counts of each rank and suit, never from trying jokers out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import overload

from games.errors import IllegalMove
from games.game import LegalMoves
from games.move import PASS, Move
from games.zhengfen.combinations import (
    BLACK,
    CATEGORIES,
    DECK,
    FIVE,
    FIVE_TEN_KING,
    FLUSH,
    FULLHOUSE,
    KING,
    PAIR_RUN,
    QUAD,
    RED,
    SHORTEST_FLUSH,
    SHORTEST_RUN,
    SUITED,
    TEN,
    TWO,
    TWOS,
    Reading,
    fits,
    is_special,
    spell,
)
from games.zhengfen.play_groups import (
    BLACK_JOKER,
    BOTH,
    RED_JOKER,
    SETS,
    Choices,
    Group,
    RunGroup,
    mirror,
    spell_runs,
    texts_of,
)

Check = Callable[[str | Move], Move]
"""Understands a move, or raises IllegalMove."""


class Lister:
    """What one hand can play: groups for each category, from a level (and length) up."""

    def __init__(self, hand: int) -> None:
        mirrored = mirror(hand)
        self._natural = mirrored & ~BOTH
        self._jokers = [joker for joker in (BLACK_JOKER, RED_JOKER) if mirrored & joker]
        self._ends: list[list[int]] = [[0], self._jokers]
        if len(self._jokers) == 2:
            self._ends.append([BOTH])
        elif not self._jokers:
            self._ends.pop()
        self._fields = [mirrored >> (56 - 4 * rank) & 15 for rank in range(13)]
        # by rank and number: the sets of so many natural cards
        self._sets = [SETS[rank][field] for rank, field in enumerate(self._fields)]

    def all(self) -> list[Group]:
        """Everything that the hand can lead."""
        groups = self.specials(FIVE_TEN_KING)
        for category in range(FLUSH + 1):
            groups += self.ordinary(category, -1, 0)
        groups.sort(key=_key)
        return groups

    def above(self, table: Reading) -> list[Group]:
        """Everything that beats a reading."""
        category, level, length = table
        if is_special(category):
            groups = self.specials(category + 1)
        else:
            groups = self.specials(FIVE_TEN_KING) + self.ordinary(category, level, length)
        groups.sort(key=_key)
        return groups

    def ordinary(self, category: int, level: int, length: int) -> list[Group]:
        """The groups of a category that is no special, higher than level and length."""
        if category <= QUAD:
            return self._multiples(category + 1, level)
        if category < FULLHOUSE:
            return self._runs(category - PAIR_RUN + 2, level, length)
        if category == FULLHOUSE:
            return self._fullhouses(level)
        return self._flushes(level, length)

    def _multiples(self, size: int, above: int) -> list[Group]:
        """Singles, pairs, triples or quads, higher than a level."""
        groups = []
        for rank in range(max(above + 1, 0), 13):
            sets = self._sets[rank]
            plays = sets[size]
            if size == 4 and rank == TWO:
                plays = []  # the special 2222
            if self._jokers and size > 1:
                plays = plays + [one | joker for one in sets[size - 1] for joker in self._jokers]
                if size > 2 and len(self._jokers) == 2:
                    plays += [cards | BOTH for cards in sets[size - 2]]
                plays.sort(reverse=True)
            if plays:
                groups.append(Group(size, (size - 1, rank, 1), plays))
        if size == 1:
            groups += [
                Group(1, (0, rank, 1), [joker])
                for rank, joker in ((BLACK, BLACK_JOKER), (RED, RED_JOKER))
                if joker in self._jokers and rank > above
            ]
        if size == 2 and len(self._jokers) == 2:
            groups.append(Group(2, (1, RED, 1), [BOTH]))
        return groups

    def _runs(self, size: int, above: int, longer: int) -> list[Group]:
        """Runs of pairs, triples or quads, higher than a level, or of that level and longer."""
        most = len(self._jokers)
        lacks = [max(0, size - field.bit_count()) for field in self._fields]
        if all(sum(lacks[low : low + SHORTEST_RUN]) > most for low in range(11)):
            return []
        all_choices: list[Choices] = []
        for sets in self._sets:
            choices = [
                (cards, jokers)
                for jokers in range(min(most, size) + 1)
                for cards in sets[size - jokers]
            ]
            choices.sort(reverse=True)
            all_choices.append(choices)
        groups: list[Group] = []
        category = PAIR_RUN + size - 2
        for low in range(13 - SHORTEST_RUN + 1):
            lack = 0
            for high in range(low, 13):
                lack += lacks[high]
                if lack > most:
                    break
                length = high - low + 1
                if length < SHORTEST_RUN or (high, length) <= (above, longer):
                    continue
                ranks = all_choices[low : high + 1]
                if high < TWO:  # without a natural card at its foot it would be read higher
                    ranks[0] = [choice for choice in ranks[0] if choice[0]]
                group = RunGroup(size * length, (category, high, length), ranks, self._ends)
                if group.count:
                    groups.append(group)
        return groups

    def _flushes(self, above: int, longer: int) -> list[Group]:
        """Flushes, higher than a level, or of that level and longer."""
        most = len(self._jokers)
        found: dict[tuple[int, int], list[int]] = {}
        for suit in range(4):
            held = [field & 8 >> suit for field in self._fields]
            if sum([card > 0 for card in held]) + most < SHORTEST_FLUSH:
                continue
            all_choices: list[Choices] = []
            for rank, card in enumerate(held):
                choices = [(card << (56 - 4 * rank), 0)] if card else []
                all_choices.append([*choices, (0, 1)])
            for low in range(13 - SHORTEST_FLUSH + 1):
                lack = 0
                for high in range(low, 13):
                    lack += len(all_choices[high]) == 1
                    if lack > most:
                        break
                    length = high - low + 1
                    if length < SHORTEST_FLUSH or (high, length) <= (above, longer):
                        continue
                    ranks = all_choices[low : high + 1]
                    if high < TWO:
                        ranks[0] = ranks[0][:-1]
                    plays = spell_runs(ranks, self._ends)
                    if plays:
                        found[high, length] = found.get((high, length), []) + plays
        groups = []
        for (high, length), plays in found.items():
            plays.sort(reverse=True)
            groups.append(Group(length, (FLUSH, high, length), plays))
        return groups

    def _fullhouses(self, above: int) -> list[Group]:
        """Full houses with a triple higher than a level."""
        triplets = [
            rank
            for rank in range(12, -1, -1)
            if self._fields[rank] and self._fields[rank].bit_count() + len(self._jokers) >= 3
        ]
        if not triplets:
            return []
        pairs = self._beside()
        seen: set[int] = set()  # three cards and two jokers, read with a higher triple
        groups = []
        for rank in triplets:
            field = 15 << (56 - 4 * rank)
            foot = 1 << (56 - 4 * rank)  # mirrored, the higher ranks are the lower bits
            beside = [pair for pair, _ in pairs if not pair & field]
            others = self._singles(self._natural & ~field)
            triples = self._sets[rank][3]
            plays = [triple | pair for triple in triples for pair in beside]
            plays += self._quads_with_one(rank, others)
            for joker in self._jokers:
                # two of the rank and a joker; two pairs are read with the higher one
                lower = [
                    pair for pair, alike in pairs if not (pair & field or (alike and pair < foot))
                ]
                plays += [two | pair | joker for two in self._sets[rank][2] for pair in lower]
                plays += [triple | one | joker for triple in triples for one in others]
                plays += [four | joker for four in self._sets[rank][4]]
            if len(self._jokers) == 2:
                threes = [one | pair for one in self._sets[rank][1] for pair in beside]
                threes += [two | one for two in self._sets[rank][2] for one in others]
                threes += triples
                fresh = [cards for cards in set(threes) if cards not in seen]
                seen.update(fresh)
                plays += [cards | BOTH for cards in fresh]
            if plays and rank > above:
                plays.sort(reverse=True)
                groups.append(Group(5, (FULLHOUSE, rank, 1), plays))
        return groups

    def _beside(self) -> list[tuple[int, bool]]:
        """The pairs of natural cards that fit beside a triple, and whether they are of one rank."""
        singles = self._singles(self._natural)
        numbers = [60 - card.bit_length() for card in singles]
        found = []
        for i, card in enumerate(singles):
            rank, suit = numbers[i] >> 2, numbers[i] & 3
            for j in range(i + 1, len(singles)):
                other = numbers[j]
                if fits(rank, suit, other >> 2, other & 3):
                    found.append((card | singles[j], rank == other >> 2))
        return found

    def _quads_with_one(self, rank: int, others: list[int]) -> list[int]:
        """All four of a rank and one more natural card: the fourth is one of the extra cards."""
        return [
            four | one
            for four in self._sets[rank][4]
            for one in others
            if fits(rank, 0, (60 - one.bit_length()) >> 2, 0)
        ]

    @staticmethod
    def _singles(cards: int) -> list[int]:
        """The cards of a set one by one, in deck order."""
        found = []
        while cards:
            top = 1 << cards.bit_length() - 1
            found.append(top)
            cards ^= top
        return found

    def specials(self, lowest: int) -> list[Group]:
        """The specials from a category on."""
        groups = []
        plain: list[int] = []
        suited: list[int] = []
        for five in self._sets[FIVE][1]:
            for ten in self._sets[TEN][1]:
                for king in self._sets[KING][1]:
                    alike = five >> 20 == ten and ten >> 12 == king
                    (suited if alike else plain).append(five | ten | king)
        if plain and lowest <= FIVE_TEN_KING:
            groups.append(Group(3, (FIVE_TEN_KING, KING, 1), plain))
        if suited and lowest <= SUITED:
            groups.append(Group(3, (SUITED, KING, 1), suited))
        if self._fields[TWO] == 15 and lowest <= TWOS:
            groups.append(Group(4, (TWOS, TWO, 1), self._sets[TWO][4]))
        return groups

    def twofold(self) -> set[int]:
        """The sets of five cards that are a flush and a full house: three of a suit, two jokers."""
        found: set[int] = set()
        if len(self._jokers) < 2:
            return found
        for suit in range(4):
            ranks = [rank for rank in range(13) if self._fields[rank] & 8 >> suit]
            for low, middle, high in combinations(ranks, 3):
                if high - low < SHORTEST_FLUSH and (
                    fits(low, suit, middle, suit)
                    or fits(low, suit, high, suit)
                    or fits(middle, suit, high, suit)
                ):
                    three = 1 << 59 - 4 * low | 1 << 59 - 4 * middle | 1 << 59 - 4 * high
                    found.add(three >> suit | BOTH)
        return found


def _key(group: Group) -> int:
    return group.key


class TrickMoves(LegalMoves):
    """The legal moves of a trick: `pass` where something lies on the table, then the groups."""

    def __init__(self, check: Check, hand: int, table: Reading | None) -> None:
        self._check = check
        self._lister = Lister(hand)
        self._passing = table is not None
        self._table = table
        self._groups: list[Group] | None = None
        self._ends: list[int] = []
        self._twofold: set[int] | None = None

    def groups(self) -> list[Group]:
        """The plays by reading, in order."""
        groups = self._groups
        if groups is None:
            table = self._table
            groups = self._lister.all() if table is None else self._lister.above(table)
            self._groups = groups
            total = int(self._passing)
            for group in groups:
                total += group.count
                self._ends.append(total)
        return groups

    def _suffixed(self, group: Group) -> set[int]:
        """The plays of a group that carry a suffix."""
        category, _, length = group.reading
        if category != FULLHOUSE and (category != FLUSH or length != SHORTEST_FLUSH):
            return set()
        if self._twofold is None:
            self._twofold = self._lister.twofold()
        return self._twofold

    def __len__(self) -> int:
        self.groups()
        return self._ends[-1] if self._ends else int(self._passing)

    @overload
    def __getitem__(self, index: int) -> Move: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Move, ...]: ...
    def __getitem__(self, index: int | slice) -> Move | tuple[Move, ...]:
        number = len(self)
        if isinstance(index, slice):
            return tuple([self[place] for place in range(*index.indices(number))])
        if index < 0:
            index += number
        if not 0 <= index < number:
            raise IndexError("There are not so many legal moves.")
        if self._passing and index == 0:
            return Move(PASS, DECK)
        place = bisect_right(self._ends, index)
        group = self.groups()[place]
        cards = group.plays()[index - (self._ends[place] - group.count)]
        return spell(mirror(cards), group.reading, cards in self._suffixed(group))

    def __iter__(self) -> Iterator[Move]:
        if self._passing:
            yield Move(PASS, DECK)
        for group in self.groups():
            suffixed = self._suffixed(group)
            for cards in group.plays():
                yield spell(mirror(cards), group.reading, cards in suffixed)

    def __contains__(self, move: object) -> bool:
        if not isinstance(move, str | Move):
            return False
        try:
            return self._check(move) == str(move)
        except IllegalMove:
            return False

    def texts(self) -> list[str]:
        """All of them as strings."""
        found = [PASS] if self._passing else []
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
