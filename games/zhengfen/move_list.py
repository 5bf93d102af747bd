"""The list of legal moves in a trick of Zheng Fen, and the generator of its plays.

Each set of cards is generated once per category, at the highest rank that it can have. Plays are
derived from the cards of each rank and suit, without trying substitutions for jokers.
"""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import combinations
from operator import attrgetter
from typing import Final

from games.game import LegalMoves
from games.move import PASS, Move
from games.zhengfen.combinations import (
    BLACK,
    DECK,
    FIVE,
    FIVE_TEN_KING,
    FLUSH,
    FULLHOUSE,
    JOKERS,
    KING,
    NAMES,
    PAIR_RUN,
    QUAD,
    RED,
    SHORTEST_FLUSH,
    SHORTEST_RUN,
    SUIT_CARDS,
    SUITED,
    TEN,
    TWO,
    TWOS,
    Reading,
    build_move,
    fits,
    is_special,
    readings,
)
from games.zhengfen.play_groups import (
    BLACK_JOKER,
    BOTH,
    RED_JOKER,
    SETS,
    Choices,
    Group,
    RunGroup,
    list_runs,
    mirror,
    texts_of,
)

_FittingPair = tuple[int, bool]
"""Two natural cards that fit beside a triple, and whether they have the same rank."""

_ENDS: Final[dict[int, list[list[int]]]] = {
    0: [[0]],
    BLACK_JOKER: [[0], [BLACK_JOKER]],
    RED_JOKER: [[0], [RED_JOKER]],
    BOTH: [[0], [BLACK_JOKER, RED_JOKER], [BOTH]],
}
"""By the jokers of a hand: for each number of jokers, the ways to use that many, descending."""


class MoveGenerator:
    """A generator of the plays of one hand, in groups."""

    def __init__(self, hand: int) -> None:
        mirrored = mirror(hand)
        self._ends = _ENDS[mirrored & BOTH]
        self._jokers = self._ends[1] if len(self._ends) > 1 else []
        self._fields = [mirrored >> (56 - 4 * rank) & 15 for rank in range(13)]
        # By rank and number: the sets of that many natural cards.
        self._sets = [SETS[rank][field] for rank, field in enumerate(self._fields)]

    def groups(self, table: Reading | None) -> list[Group]:
        """Return the groups of plays that beat the reading `table`, or all groups if it is None.

        The groups are in the API contract's order.
        """
        if table is None:
            groups = self._specials(FIVE_TEN_KING)
            for category in range(FLUSH + 1):
                groups += self._ordinary(category, -1, 0)
        elif is_special(table[0]):
            groups = self._specials(table[0] + 1)
        else:
            groups = self._specials(FIVE_TEN_KING) + self._ordinary(*table)
        groups.sort(key=attrgetter("order"))
        return groups

    def _ordinary(self, category: int, level: int, length: int) -> list[Group]:
        if category <= QUAD:
            return self._multiples(category + 1, level)
        if category < FULLHOUSE:
            return self._runs(category - PAIR_RUN + 2, level, length)
        if category == FULLHOUSE:
            return self._fullhouses(level)
        return self._flushes(level, length)

    def _multiples(self, size: int, above: int) -> list[Group]:
        groups = []
        for rank in range(max(above + 1, 0), 13):
            sets = self._sets[rank]
            plays = sets[size]
            if size == 4 and rank == TWO:
                plays = []  # the special 2222
            if self._jokers and size > 1:
                plays = plays + [rest | joker for rest in sets[size - 1] for joker in self._jokers]
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

    def _spans(
        self, lacks: list[int], shortest: int, above: int, longer: int
    ) -> list[tuple[int, int]]:
        """Return the runs that the hand can form with jokers, as (lowest rank, highest rank).

        `lacks` has, for each rank, the number of cards that jokers must replace. A run has at least
        `shortest` ranks. Its highest rank is higher than `above`, or equal to `above` if the run
        has more than `longer` ranks.
        """
        most = len(self._jokers)
        spans: list[tuple[int, int]] = []
        if lacks.count(0) + most < shortest:
            return spans
        for low in range(13 - shortest + 1):
            lack = sum(lacks[low : low + shortest - 1])
            if lack > most:
                continue
            for high in range(low + shortest - 1, 13):
                lack += lacks[high]
                if lack > most:
                    break
                if (high, high - low + 1) > (above, longer):
                    spans.append((low, high))
        return spans

    def _runs(self, size: int, above: int, longer: int) -> list[Group]:
        lacks = [max(0, size - field.bit_count()) for field in self._fields]
        spans = self._spans(lacks, SHORTEST_RUN, above, longer)
        all_choices: list[Choices] = []
        for sets in self._sets if spans else ():
            choices = [
                (cards, jokers)
                for jokers in range(min(len(self._jokers), size) + 1)
                for cards in sets[size - jokers]
            ]
            choices.sort(reverse=True)
            all_choices.append(choices)
        groups: list[Group] = []
        for low, high in spans:
            ranks = all_choices[low : high + 1]
            if high < TWO:  # without a natural lowest card it would be read higher
                ranks[0] = [choice for choice in ranks[0] if choice[0]]
            length = high - low + 1
            reading = (PAIR_RUN + size - 2, high, length)
            group = RunGroup(size * length, reading, ranks, self._ends)
            if group.count:
                groups.append(group)
        return groups

    def _flushes(self, above: int, longer: int) -> list[Group]:
        by_reading: dict[tuple[int, int], list[int]] = {}
        for suit in range(4):
            cards = [field & 8 >> suit for field in self._fields]
            spans = self._spans([int(not card) for card in cards], SHORTEST_FLUSH, above, longer)
            if not spans:
                continue
            all_choices: list[Choices] = [
                [(card << (56 - 4 * rank), 0), (0, 1)] if card else [(0, 1)]
                for rank, card in enumerate(cards)
            ]
            for low, high in spans:
                ranks = all_choices[low : high + 1]
                if high < TWO:
                    ranks[0] = ranks[0][:-1]
                plays = list_runs(ranks, self._ends)
                if plays:
                    reading = (high, high - low + 1)
                    by_reading[reading] = by_reading.get(reading, []) + plays
        groups = []
        for (high, length), plays in by_reading.items():
            plays.sort(reverse=True)
            groups.append(Group(length, (FLUSH, high, length), plays))
        return groups

    def _fullhouses(self, above: int) -> list[Group]:
        """Return the groups of full houses with a triple higher than rank `above`.

        Each set of cards is listed only at the highest rank that its triple can have.
        """
        ranks = [
            rank
            for rank in range(12, -1, -1)
            if self._fields[rank] and self._fields[rank].bit_count() + len(self._jokers) >= 3
        ]
        singles = [card for sets in self._sets for card in sets[1]] if ranks else []
        fitting = _fitting_pairs(singles)
        listed: set[int] = set()  # with both jokers, at a higher rank
        groups = []
        for rank in ranks:
            field = 15 << (56 - 4 * rank)
            pairs = [(pair, alike) for pair, alike in fitting if not pair & field]
            others = [card for card in singles if not card & field]
            plays = self._cards_of_fullhouses(rank, 0, pairs, others)
            for used, ends in enumerate(self._ends[1:], 1):
                natural = self._cards_of_fullhouses(rank, used, pairs, others)
                if used == 2:
                    natural = list({*natural} - listed)
                    listed.update(natural)
                plays += [cards | jokers_used for cards in natural for jokers_used in ends]
            if plays and rank > above:
                plays.sort(reverse=True)
                groups.append(Group(5, (FULLHOUSE, rank, 1), plays))
        return groups

    def _cards_of_fullhouses(
        self, rank: int, jokers: int, pairs: list[_FittingPair], others: list[int]
    ) -> list[int]:
        """Return the natural cards of each full house with a triple of `rank` and `jokers` jokers.

        `pairs` has all fitting pairs of other ranks, and `others` all cards of other ranks. With
        both jokers, calls with different values of `rank` may return the same cards.
        """
        _, singles, twos, triples, fours = self._sets[rank]
        if jokers == 0:  # all four cards of the rank need one that fits the fourth
            plays = [triple | pair for triple in triples for pair, _ in pairs]
            return plays + [
                four | other
                for four in fours
                for other in others
                if fits(rank, 0, (60 - other.bit_length()) >> 2, 0)
            ]
        if jokers == 1:  # it completes the triple, or is a 3 beside it; the higher pair is a triple
            lowest = 1 << (56 - 4 * rank)  # mirrored: higher ranks are lower bits
            beside = [pair for pair, alike in pairs if not alike or pair > lowest]
            plays = [two | pair for two in twos for pair in beside]
            return plays + [triple | other for triple in triples for other in others] + fours
        plays = [single | pair for single in singles for pair, _ in pairs]
        return plays + [two | other for two in twos for other in others] + triples

    def _specials(self, lowest: int) -> list[Group]:
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


def _fitting_pairs(singles: list[int]) -> list[_FittingPair]:
    pairs = []
    for card, other in combinations(singles, 2):
        number, following = 60 - card.bit_length(), 60 - other.bit_length()
        rank, next_rank = number >> 2, following >> 2
        if fits(rank, number & 3, next_rank, following & 3):
            pairs.append((card | other, rank == next_rank))
    return pairs


class ZhengfenMoves(LegalMoves):
    """The legal moves in a trick: first a pass if there is a play to beat, then the plays."""

    def __init__(self, hand: int, table: Reading | None) -> None:
        self._hand = hand
        self._passing = table is not None
        self.groups = MoveGenerator(hand).groups(table)
        total = int(self._passing)
        self._starts = [total]
        for group in self.groups:
            total += group.count
            self._starts.append(total)

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, index: int) -> Move:
        index = range(len(self))[index]
        if self._passing and index == 0:
            return Move(PASS, DECK)
        place = bisect_right(self._starts, index) - 1
        group = self.groups[place]
        cards = mirror(group.plays()[index - self._starts[place]])
        return build_move(cards, group.reading, len(readings(cards)) > 1)

    def __iter__(self) -> Iterator[Move]:
        moves = [Move(PASS, DECK)] if self._passing else []
        ambiguous = _ambiguous(self._hand)
        for group in self.groups:
            reading = group.reading
            moves += [
                build_move(mirror(cards), reading, cards in ambiguous) for cards in group.plays()
            ]
        return iter(moves)

    def texts(self) -> list[str]:
        """Return all moves as strings."""
        texts = [PASS] if self._passing else []
        ambiguous = _ambiguous(self._hand)
        for group in self.groups:
            plays = group.plays()
            group_texts = texts_of(plays)
            if ambiguous and group.reading[0] in (FULLHOUSE, FLUSH):
                suffix = "=" + NAMES[group.reading[0]]
                for place, cards in enumerate(plays):
                    if cards in ambiguous:
                        group_texts[place] += suffix
            texts += group_texts
        return texts


def _ambiguous(hand: int) -> set[int]:
    """Return the mirrored plays of a hand that are both a flush and a full house.

    Each has both jokers, and three cards of one suit that fit into a flush of five.
    """
    if hand & JOKERS != JOKERS:
        return set()
    plays = [
        DECK.hand_of_numbers(three) | JOKERS
        for suit in SUIT_CARDS
        for three in combinations(DECK.numbers(hand & suit), 3)
        if three[2] - three[0] < 4 * SHORTEST_FLUSH
    ]
    return {mirror(cards) for cards in plays if len(readings(cards)) > 1}
