"""Shuffling, reproducible in any language (contract, "Dealing")."""

import hashlib
import struct
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final

_BLOCK: Final = struct.Struct(">8I")


def _words(seed: str, deal: int) -> Iterator[int]:
    for block in count():
        yield from _BLOCK.unpack(hashlib.sha256(f"{seed}/{deal}/{block}".encode()).digest())


class Randomness:
    """The stream of random numbers that a game's seed and the number of a deal determine.

    The methods raise UnicodeEncodeError if the seed has a lone surrogate.
    """

    def __init__(self, seed: str, deal: int) -> None:
        self._words = _words(seed, deal)

    def below(self, n: int) -> int:
        """Return the next random integer, uniform in [0, n). `n` must be from 1 to 2**32."""
        limit = (1 << 32) // n * n
        word = next(self._words)
        while word >= limit:
            word = next(self._words)
        return word % n

    def shuffle(self, cards: Sequence[int]) -> list[int]:
        """Return a new list with the cards in random order."""
        order = list(cards)
        for i in range(len(order) - 1, 0, -1):
            j = self.below(i + 1)
            order[i], order[j] = order[j], order[i]
        return order
