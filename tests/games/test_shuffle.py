"""Random numbers follow the contract: a second implementation of "Dealing".

The first deals of golden games prove that each game deals by them.
"""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from games.shuffle import Randomness


@given(seed=st.text(min_size=1, max_size=8, alphabet="ab/é🂡"), n=st.integers(1, 2**32))
def test_below_follows_the_words(seed: str, n: int) -> None:
    digests = [hashlib.sha256(f"{seed}/3/{block}".encode()).digest() for block in range(20)]
    stream = b"".join(digests)
    words = [int.from_bytes(stream[at : at + 4], "big") for at in range(0, len(stream), 4)]
    expected = [word % n for word in words if word < 2**32 // n * n]
    random = Randomness(seed, 3)
    assert [random.below(n) for _ in expected] == expected
