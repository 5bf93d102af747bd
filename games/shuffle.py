"""Shuffling and dealing, reproducible in any language (contract, "Dealing").

Random 32-bit words are the SHA-256 digests of `{seed}/{deal}/{block}`, read big-endian. `below`
rejects words that would make small results more likely. The shuffle is Fisher-Yates from the top.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from typing import Final

_WORDS: Final = struct.Struct(">8I")


class Randomness:
    """The random words of one deal."""

    def __init__(self, seed: str, deal: int) -> None:
        self._prefix = f"{seed}/{deal}/".encode()
        self._block = 0
        self._words: list[int] = []
        self._next = 0

    def _refill(self) -> None:
        digest = hashlib.sha256(self._prefix + str(self._block).encode()).digest()
        self._words = list(_WORDS.unpack(digest))
        self._block += 1
        self._next = 0

    def below(self, n: int) -> int:
        """A uniformly distributed integer in [0, n)."""
        limit = (1 << 32) // n * n
        while True:
            if self._next == len(self._words):
                self._refill()
            word = self._words[self._next]
            self._next += 1
            if word < limit:
                return word % n

    def shuffle(self, cards: Sequence[int]) -> list[int]:
        """The cards in shuffled order."""
        order = list(cards)
        for i in range(len(order) - 1, 0, -1):
            j = self.below(i + 1)
            order[i], order[j] = order[j], order[i]
        return order


def distribute(
    order: Sequence[int], players: int, start: int, drawn: int
) -> tuple[list[list[int]], list[int]]:
    """Deal the first `drawn` cards one by one, beginning with seat `start`.

    Returns the hands by seat, and the talon: the remaining cards.
    """
    hands: list[list[int]] = [[] for _ in range(players)]
    for turn in range(players):
        hands[(start + turn) % players] = list(order[turn:drawn:players])
    return hands, list(order[drawn:])
