"""The combinations of Dou Dizhu: what cards are, what beats what, what a hand can play.

Three players (rules, 1-13) and four (two packs; nothing with single kickers, larger bombs) are two
classes, for they share the runs and little else.
"""

from __future__ import annotations

from abc import abstractmethod

from games.climbing.trick import not_a_combination, not_higher, wrong_category
from games.deck import Deck
from games.doudizhu.move_list import (
    BLACK,
    BOMB,
    CATEGORIES,
    IN_RUNS,
    JOKERS,
    PAIR,
    PAIR_RUN,
    QUAD_PAIRS,
    QUAD_SOLOS,
    RED,
    ROCKET,
    RUN,
    SOLO,
    TRIPLE,
    TRIPLE_PAIR,
    TRIPLE_RUN,
    TRIPLE_RUN_PAIRS,
    TRIPLE_RUN_SOLOS,
    TRIPLE_SOLO,
    KeyedMoves,
    Keys,
    Kickers,
    each,
    higher,
    key,
    multiple,
    multiples,
    run_mask,
    running,
)
from games.move import PLAY, Move
from games.rank_masks import MASK, STRIDE, bits, held, is_run, runs, tally


class Combinations(Keys):
    """The combinations of one number of players."""

    @abstractmethod
    def classify(self, cards: int) -> tuple[int, int, int] | None:
        """Category, level and length of these cards; None if they are no combination."""

    @abstractmethod
    def lead_keys(self, at: int) -> list[int]:
        """The keys that a tally can lead, in the contract's order."""

    @abstractmethod
    def follow_keys(self, at: int, table: Move) -> list[int]:
        """The keys of a tally that beat what lies on the table, in the contract's order."""

    @abstractmethod
    def trumps(self, move: Move, table: Move) -> bool | None:
        """Whether a bomb or rocket beats the table; None where neither is involved."""

    @abstractmethod
    def doubles(self, move: Move) -> bool:
        """Whether a play doubles the score."""

    def leads(self, hand: int) -> KeyedMoves:
        """What a hand can lead, in the contract's order."""
        at = tally(self.deck, hand)
        return KeyedMoves(self, hand, at, self.lead_keys(at), None)

    def follows(self, hand: int, table: Move) -> KeyedMoves:
        """`pass`, and what a hand has to beat the table, in the contract's order."""
        at = tally(self.deck, hand)
        return KeyedMoves(self, hand, at, self.follow_keys(at, table), table)

    def read(self, move: Move) -> Move:
        """The play with its category, rank and length; `not-a-combination` if it has none."""
        found = None if move.suffix or move.cards <= 0 else self.classify(move.cards)
        if found is None:
            raise not_a_combination(move, "Dou Dizhu")
        category, level, length = found
        if (
            move.category is not None
            and move.value == category
            and move.level == level
            and move.length == length
        ):
            return move
        return self._move(move.cards, category, level, length)

    def _move(self, cards: int, category: int, level: int, length: int) -> Move:
        return Move(
            PLAY,
            self.deck,
            cards,
            category,
            CATEGORIES[category],
            level,
            length,
            self.deck.ranks[level],
        )

    def check_beats(self, move: Move, table: Move) -> None:
        """IllegalMove(`wrong-category` or `not-higher`) unless a play beats the table."""
        beats = self.trumps(move, table)
        if beats is None:
            if move.category != table.category or self.deck.count(move.cards) != self.deck.count(
                table.cards
            ):
                raise wrong_category(move.text, table)
            beats = move.level > table.level
        if not beats:
            raise not_higher(move.text, table)

    def spell(self, hand: int, key: int, kickers: tuple[int, ...]) -> Move:
        """The play of a key with these kickers in the lowest suits held."""
        category, level, length = key >> 8 & 15, key >> 12 & 15, key & 255
        deck = self.deck
        if category == ROCKET:
            return self._move(
                deck.rank(hand, BLACK) | deck.rank(hand, RED), category, level, length
            )
        if category == BOMB:
            return self._move(deck.lowest(hand, level, length), category, level, length)
        size = multiple(category)
        cards = deck.lowest(hand, level, size)
        if running(category):
            for rank in range(level - length + 1, level):
                cards += deck.lowest(hand, rank, size)
        if kickers:
            number = each(category)
            if len(kickers) == 2 and kickers[0] == kickers[1]:
                cards += deck.lowest(hand, kickers[0], 2)
            else:
                for rank in kickers:
                    cards += deck.lowest(hand, rank, number)
        return self._move(cards, category, level, length)


class ThreePlayers(Combinations):
    """One pack, all fourteen categories; `pair_as_solos` is the option `quad_pair_as_solos`."""

    def __init__(self, deck: Deck, pair_as_solos: bool) -> None:
        super().__init__(deck)
        self._pair_as_solos = pair_as_solos

    def classify(self, cards: int) -> tuple[int, int, int] | None:
        """Category, level and length of these cards; None if they are no combination."""
        number = cards.bit_count()
        if number == 1:
            return SOLO, cards.bit_length() - 1 >> 2, 1
        at = tally(self.deck, cards)
        at1, at2, at3, at4 = at & MASK, at >> STRIDE & MASK, held(at, 3), held(at, 4)
        if at4:
            return self._quad(at1, at2, at3, at4, number)
        if at3:
            return _triples(at1, at2, at3, number)
        high = at1.bit_length() - 1
        if at2:
            length = number // 2
            if at1 != at2 or (length > 1 and (length < 3 or at2 > IN_RUNS or not is_run(at2))):
                return None
            return (PAIR if length == 1 else PAIR_RUN), high, length
        if at1 == JOKERS:
            return ROCKET, RED, 1
        if number < 5 or at1 > IN_RUNS or not is_run(at1):
            return None
        return RUN, high, number

    def _quad(
        self, at1: int, at2: int, at3: int, at4: int, number: int
    ) -> tuple[int, int, int] | None:
        level = at4.bit_length() - 1
        if at4 & (at4 - 1):
            return None  # two quads are no attachment to each other: ranks must differ
        if number == 4:
            return BOMB, level, 4
        rest = at1 ^ at4
        if at3 != at4:
            return None
        if number == 6 and at2 == at4 and rest != JOKERS:
            return QUAD_SOLOS, level, 1
        if number == 6 and self._pair_as_solos and at2 == at1:
            return QUAD_SOLOS, level, 1
        if number == 8 and at2 == at1 and rest.bit_count() == 2:
            return QUAD_PAIRS, level, 1
        return None

    def lead_keys(self, at: int) -> list[int]:
        """The keys that a tally can lead, in the contract's order."""
        keys = multiples(at)
        at1, at2, at3, at4 = at & MASK, at >> STRIDE & MASK, held(at, 3), held(at, 4)
        for rank in bits(at3):
            if at1 & (at1 - 1):
                keys.append(key(4, rank, TRIPLE_SOLO, 1))
            if at2 & (at2 - 1):
                keys.append(key(5, rank, TRIPLE_PAIR, 1))
        if at3 & (at3 - 1):
            for low, length in runs(at3 & IN_RUNS, 2):
                high = low + length - 1
                for category, size in ((TRIPLE_RUN_SOLOS, 4), (TRIPLE_RUN_PAIRS, 5)):
                    found = key(size * length, high, category, length)
                    if self.kickers(at, found).count():
                        keys.append(found)
        for rank in bits(at4):
            for found in (key(6, rank, QUAD_SOLOS, 1), key(8, rank, QUAD_PAIRS, 1)):
                if self.kickers(at, found).count():
                    keys.append(found)
        keys += _bombs(at)
        keys.sort()
        return keys

    def follow_keys(self, at: int, table: Move) -> list[int]:
        """The keys of a tally that beat what lies on the table, in the contract's order."""
        category = table.value
        if category == ROCKET:
            return []
        bombs = _bombs(at)
        if category == BOMB:
            return [found for found in bombs if (found >> 12 & 15) > table.level]
        keys = higher(at, table)
        if each(category):
            keys = [found for found in keys if self.kickers(at, found).count()]
        if bombs:
            keys += bombs
            keys.sort()
        return keys

    def kickers(self, at: int, key: int) -> Kickers:
        """What a hand with this tally can attach to a key that takes kickers."""
        category, level, length = key >> 8 & 15, key >> 12 & 15, key & 255
        number = each(category)
        others = held(at, number) & ~run_mask(level, length)
        if multiple(category) == 3:
            return Kickers(others, length, number == 1)
        doubles = held(at, 2) & others if number == 1 and self._pair_as_solos else 0
        return Kickers(others, 2, number == 1, doubles)

    def trumps(self, move: Move, table: Move) -> bool | None:
        """Whether a bomb or rocket beats the table; None where neither is involved."""
        if move.category == "rocket":
            return True
        if move.category == "bomb":
            return table.category != "rocket" and (
                table.category != "bomb" or move.level > table.level
            )
        return None

    def doubles(self, move: Move) -> bool:
        """Every bomb and the rocket."""
        return move.category == "bomb" or move.category == "rocket"


def _triples(at1: int, at2: int, at3: int, number: int) -> tuple[int, int, int] | None:
    """One triple or a run of them, bare or with as many solos or pairs of other ranks."""
    length = at3.bit_count()
    if length > 1 and (at3 > IN_RUNS or not is_run(at3)):
        return None
    level = at3.bit_length() - 1
    bare, solos, pairs = (
        (TRIPLE, TRIPLE_SOLO, TRIPLE_PAIR)
        if length == 1
        else (TRIPLE_RUN, TRIPLE_RUN_SOLOS, TRIPLE_RUN_PAIRS)
    )
    rest = number - 3 * length
    if rest == 0:
        return bare, level, length
    others = at1 ^ at3
    if rest == length and at2 == at3 and others & JOKERS != JOKERS:
        return solos, level, length
    if rest == 2 * length and at2 == at1 and others.bit_count() == length:
        return pairs, level, length
    return None


def _bombs(at: int) -> list[int]:
    """The keys of the bombs and the rocket of one pack."""
    at4 = held(at, 4)
    keys = [key(4, rank, BOMB, 4) for rank in bits(at4)] if at4 else []
    if at & JOKERS == JOKERS:
        keys.append(key(2, RED, ROCKET, 1))
    return keys


class FourPlayers(Combinations):
    """Two packs: no single kickers, no quads with kickers, bombs of four to eight cards."""

    def classify(self, cards: int) -> tuple[int, int, int] | None:
        """Category, level and length of these cards; None if they are no combination."""
        at = tally(self.deck, cards)
        at1, at2, at3, at4 = at & MASK, at >> STRIDE & MASK, held(at, 3), held(at, 4)
        number = self.deck.count(cards)
        high = at1.bit_length() - 1
        if number == 4 and at1 == JOKERS and at2 == JOKERS:
            return ROCKET, RED, 1
        if at4:
            return (BOMB, high, number) if at1 == at4 and is_single(at1) else None
        if at3:
            found = _triples(at1, at2, at3, number)
            return None if found and found[0] in (TRIPLE_SOLO, TRIPLE_RUN_SOLOS) else found
        if at2:
            length = number // 2
            if at1 != at2 or (length > 1 and (length < 3 or at2 > IN_RUNS or not is_run(at2))):
                return None
            return (PAIR if length == 1 else PAIR_RUN), high, length
        if number == 1:
            return SOLO, high, 1
        if number < 5 or at1 > IN_RUNS or not is_run(at1):
            return None
        return RUN, high, number

    def lead_keys(self, at: int) -> list[int]:
        """The keys that a tally can lead, in the contract's order."""
        keys = multiples(at)
        at3 = held(at, 3)
        pairs = held(at, 2).bit_count()
        if pairs > 1:
            keys += [key(5, rank, TRIPLE_PAIR, 1) for rank in bits(at3)]
        for low, length in runs(at3 & IN_RUNS, 2):
            if pairs >= 2 * length:
                keys.append(key(5 * length, low + length - 1, TRIPLE_RUN_PAIRS, length))
        keys += self._bombs(at)
        keys.sort()
        return keys

    def follow_keys(self, at: int, table: Move) -> list[int]:
        """The keys of a tally that beat what lies on the table, in the contract's order."""
        category = table.value
        if category == ROCKET:
            return []
        bombs = self._bombs(at)
        length = table.length or 1
        if category == BOMB:
            lowest = key(length, table.level, BOMB, length)
            return [found for found in bombs if found > lowest or found >> 8 & 15 == ROCKET]
        if each(category) and held(at, 2).bit_count() < 2 * length:
            return bombs
        keys = higher(at, table) + bombs
        keys.sort()
        return keys

    def kickers(self, at: int, key: int) -> Kickers:
        """What a hand with this tally can attach to a key that takes kickers."""
        length = key & 255
        return Kickers(held(at, 2) & ~run_mask(key >> 12 & 15, length), length, False)

    def trumps(self, move: Move, table: Move) -> bool | None:
        """Whether a bomb or rocket beats the table; None where neither is involved."""
        if move.category == "rocket":
            return True
        if move.category != "bomb":
            return None
        if table.category != "bomb":
            return table.category != "rocket"
        return (move.length or 0, move.level) > (table.length or 0, table.level)

    def doubles(self, move: Move) -> bool:
        """Bombs of six cards or more, and the rocket."""
        return move.category == "rocket" or (move.category == "bomb" and (move.length or 0) >= 6)

    def _bombs(self, at: int) -> list[int]:
        """The keys of all bombs, of every size a rank allows, and of the rocket."""
        keys = [
            key(size, rank, BOMB, size) for size in range(4, 9) for rank in bits(held(at, size))
        ]
        if held(at, 2) & JOKERS == JOKERS:
            keys.append(key(4, RED, ROCKET, 1))
        return keys


def is_single(mask: int) -> bool:
    """Whether a mask has one rank."""
    return mask & (mask - 1) == 0
