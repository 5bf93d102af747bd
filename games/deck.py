"""Cards, decks and hands.

A card is a *number*: four times its rank in the game's order plus its suit (`c d h s`). Each joker
is the only card of its rank, and the jokers' ranks are the highest. A *hand* is one integer with a
field of bits for each card: one bit with one pack, four with two. Hands add and subtract as
multisets.
"""

from collections.abc import Iterable, Sequence
from typing import Final

SUITS: Final = "cdhs"
RANKS: Final = "23456789TJQKA"
JOKERS: Final = ("Bj", "Rj")
HIDDEN: Final = "??"
_ALL_NAMES: Final = (*[rank + suit for rank in RANKS for suit in SUITS], *JOKERS, HIDDEN)


def _lowest_bits(field: int) -> tuple[int, ...]:
    masks = [0]
    for suit in range(4):
        if field >> suit & 1:
            masks.append(masks[-1] | 1 << suit)
    return tuple(masks + [masks[-1]] * (5 - len(masks)))


_LOWEST: Final = tuple(_lowest_bits(field) for field in range(16))
"""By four-bit field: masks of its lowest 0 to 4 set bits, or of all if fewer are set."""


class Deck:
    """The cards of one game. Decks are compared by identity.

    `low_to_high` has one character for each rank below the jokers.

    Attributes:
        ranks: the names of the ranks, low to high. The jokers are the ranks `Bj` and `Rj`.
        packs: the number of copies of each card (1 or 2).
        width: the number of bits of each card in a hand (1 or 4).
        names: the name of each card number, or `""` if the number has no card.
        order: all card numbers, ascending, and again for the second pack.
        cards: the names of the cards in `order`.
        size: the number of cards in all packs.
        number: the card number for each name.
        units: the one-card hand for each card number.
        full: the hand of all cards.
    """

    def __init__(self, low_to_high: str, *, jokers: bool = False, packs: int = 1) -> None:
        self.ranks: tuple[str, ...] = tuple(low_to_high) + (JOKERS if jokers else ())
        self.packs = packs
        self.width = 1 if packs == 1 else 4
        names = [rank + suit for rank in low_to_high for suit in SUITS]
        if jokers:
            for joker in JOKERS:
                names += [joker, "", "", ""]
        self.names: tuple[str, ...] = tuple(names)
        self.number: dict[str, int] = {name: card for card, name in enumerate(names) if name}
        self.order: tuple[int, ...] = tuple(self.number.values()) * packs
        self.cards: tuple[str, ...] = tuple(self.number) * packs
        self.size = len(self.order)
        self.units: tuple[int, ...] = tuple(1 << (self.width * i) for i in range(len(names)))
        self._unit: dict[str, int] = dict.fromkeys(_ALL_NAMES, 0)
        self._unit.update({name: self.units[card] for name, card in self.number.items()})
        # The names of twelve cards at a time, at most 20,480 entries: without it a state takes a
        # sixth longer to write.
        self._chunks: dict[int, tuple[str, ...]] = {}
        self._ones = sum(self.units)
        self._rank_field = (1 << (4 * self.width)) - 1
        self._guards = self._ones << 3 if packs > 1 else 0
        self.full: int = self.hand_of_numbers(self.order)

    def hand(self, cards: Iterable[str]) -> int:
        """Return the hand of the cards with these names.

        Skip `??` and cards that only other games have. If a card occurs more often than in the
        deck, the result is not a hand (see `fits`).

        Raises:
            KeyError: if a string is neither `??` nor the name of a card of any game.
        """
        return sum(map(self._unit.__getitem__, cards))

    def fits(self, total: int, number: int) -> bool:
        """Return whether the deck has all cards that were passed to `hand`, as often as named.

        `total` must be the result of `hand`, and `number` the number of names.
        """
        if self.packs == 1:
            return total.bit_count() == number
        return self.count(total) == number and not total & total >> 1 & self._ones

    def hand_of_numbers(self, numbers: Iterable[int]) -> int:
        """Return the hand of these card numbers. No card may occur more often than in the deck."""
        return sum([self.units[number] for number in numbers])

    def numbers(self, hand: int) -> list[int]:
        """Return the card numbers of a hand, ascending. A card held twice is listed twice."""
        numbers = []
        if self.packs == 1:
            while hand:
                low = hand & -hand
                numbers.append(low.bit_length() - 1)
                hand ^= low
            return numbers
        while hand:
            number = ((hand & -hand).bit_length() - 1) >> 2
            count = (hand >> (4 * number)) & 15
            numbers += [number] * count
            hand -= count << (4 * number)
        return numbers

    def names_of(self, hand: int) -> list[str]:
        """Return the names of a hand's cards, low to high. A card held twice is listed twice."""
        if self.packs > 1:
            return [self.names[number] for number in self.numbers(hand)]
        names: list[str] = []
        first = 0
        while hand:
            chunk = hand & 4095
            if chunk:
                cached = self._chunks.get(first << 12 | chunk)
                if cached is None:
                    cached = tuple([self.names[first + n] for n in range(12) if chunk >> n & 1])
                    self._chunks[first << 12 | chunk] = cached
                names += cached
            hand >>= 12
            first += 12
        return names

    def text(self, hand: int) -> str:
        """Return the names of a hand's cards (see `names_of`) as one string."""
        return "".join(self.names_of(hand))

    def pack(self, cards: Sequence[str]) -> int:
        """Return the hand of these names, or -1 if a name is not in the deck or occurs too often.

        Raises:
            KeyError: if a string is neither `??` nor the name of a card of any game.
        """
        total = self.hand(cards)
        return total if self.fits(total, len(cards)) else -1

    def count(self, hand: int) -> int:
        """Return the number of cards in a hand."""
        if self.packs == 1:
            return hand.bit_count()
        twos = hand & (self._ones << 1)
        return (hand & self._ones).bit_count() + 2 * twos.bit_count()

    def holds(self, hand: int, cards: int) -> bool:
        """Return whether `hand` contains all cards of the hand `cards`, counting duplicates."""
        if self.packs == 1:
            return hand & cards == cards
        return ((hand | self._guards) - cards) & self._guards == self._guards

    def united(self, *hands: int) -> int:
        """Return the union of several hands. No card occurs more often than in the deck.

        With one pack, a card in several hands counts once. With two packs, the hands are added in
        order, and a hand that would make a card occur more than twice is left out.
        """
        total = 0
        for hand in hands:
            if self.packs == 1:
                total |= hand
            elif self.holds(self.full, total + hand):
                total += hand
        return total

    def rank(self, hand: int, rank: int) -> int:
        """Return the cards of one rank in a hand, as a hand. `rank` is an index into `ranks`."""
        shift = 4 * self.width * rank
        return (hand >> shift & self._rank_field) << shift

    def lowest(self, hand: int, rank: int, count: int) -> int:
        """Return up to `count` cards of a rank in a hand, as a hand. Lower suits are preferred.

        `rank` is an index into `ranks`. With one pack, `count` must be at most 4.
        """
        shift = 4 * self.width * rank
        field = hand >> shift & self._rank_field
        if self.packs == 1:
            return _LOWEST[field][count] << shift
        taken = 0
        for suit in range(4):
            here = min(field >> (4 * suit) & 15, count)
            taken |= here << (4 * suit)
            count -= here
        return taken << shift

    def in_order(self, cards: Iterable[str]) -> list[str]:
        """Return these names from low to high. Strings that name no card of this deck come last."""
        return sorted(cards, key=self.place)

    def place(self, name: str) -> int:
        """Return the number of a card, or 1000 for any string that names no card of this deck."""
        return self.number.get(name, 1000)
