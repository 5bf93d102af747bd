"""Random words follow the contract exactly: a second implementation.

The first deals of golden games prove that each game deals by them.
"""

import hashlib
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from games.shuffle import Randomness


def words(seed: str, deal: int) -> Iterator[int]:
    """For block b = 0, 1, 2, …: SHA-256 of `{seed}/{deal}/{b}`, eight big-endian words."""
    block = 0
    while True:
        digest = hashlib.sha256(f"{seed}/{deal}/{block}".encode()).digest()
        for start in range(0, 32, 4):
            yield int.from_bytes(digest[start : start + 4], "big")
        block += 1


def below(stream: Iterator[int], n: int) -> int:
    while True:
        word = next(stream)
        if word < 2**32 // n * n:
            return word % n


@given(seed=st.text(min_size=1, max_size=8, alphabet="ab/é🂡"), n=st.integers(1, 2**32))
def test_below_follows_the_words(seed: str, n: int) -> None:
    stream = words(seed, 3)
    random = Randomness(seed, 3)
    for _ in range(20):
        assert random.below(n) == below(stream, n)
