"""Commits to a seed before the first deal, and opens the commitment after the last.

The commitment is the SHA-256 of the seed's UTF-8 text in hexadecimal, as printed by
`printf %s SEED | sha256sum`. It hides only a seed that cannot be guessed, so every seed that is
committed to has a random part.
"""

import hashlib
import secrets
from itertools import pairwise

_DRAWN = 4
"""A random seed has at least this many different pairs of a letter next to a digit."""


def commitment(seed: str) -> str:
    """The commitment to a seed, which is published before the first deal."""
    return hashlib.sha256(seed.encode("utf-8")).hexdigest()


def committed_seed(named: str | None) -> str:
    """A fresh seed for a cup that commits to it. The seed begins with the one that the cup names.

    The random part keeps anyone who sees the commitment, or a hand, from trying likely seeds.
    """
    drawn = secrets.token_hex(32)
    return drawn if named is None else f"{named}:{drawn}"


def follows(seed: str, named: str | None, committed: bool) -> bool:
    """Return whether a run may have this seed.

    `named` is the seed that the cup names, None for any. `committed` says whether the cup commits
    to its seed, which may then continue the named one.
    """
    if named is None or seed == named:
        return True
    return committed and seed.startswith(f"{named}:")


def opens(digest: str, seed: str) -> bool:
    """Whether a commitment was made for this seed."""
    return digest.strip().lower() == commitment(seed)


def weakness(seed: str) -> str:
    """A warning if this seed does not look random, as a hexadecimal number does, else "".

    Words and dates have few places where a letter and a digit meet.
    """
    pairs = {pair for pair in pairwise(seed) if "".join(pair).isalnum()}
    if sum(one.isalpha() != two.isalpha() for one, two in pairs) >= _DRAWN:
        return ""
    return (
        "Warning: this seed can be guessed, and a bot that guesses it knows every hand. Leave seed"
        " out, and a fresh one is drawn."
    )
