"""Commit to a seed before the first deal, and open the commitment after the last.

The commitment is the SHA-256 of the seed's UTF-8 text in hexadecimal, as printed by
`printf %s SEED | sha256sum`. It hides only a seed that cannot be guessed, so a seed that is
committed to always has a drawn part.
"""

import hashlib
import secrets
from itertools import pairwise

_DRAWN = 4
"""A drawn seed has at least so many different pairs of a letter beside a digit."""


def commitment(seed: str) -> str:
    """The commitment to a seed, which is published before the first deal."""
    return hashlib.sha256(seed.encode("utf-8")).hexdigest()


def committed_seed(named: str | None) -> str:
    """A fresh seed for a cup that commits to it; it begins with the seed that the cup names. The
    drawn part keeps anyone who sees the commitment, or a hand, from trying likely seeds."""
    drawn = secrets.token_hex(32)
    return drawn if named is None else f"{named}:{drawn}"


def follows(seed: str, named: str | None, committed: bool) -> bool:
    """Return whether a run may have this seed, if its cup names the seed `named` and may commit to
    it."""
    if named is None or seed == named:
        return True
    return committed and seed.startswith(f"{named}:")


def opens(digest: str, seed: str) -> bool:
    """Whether this seed opens a commitment."""
    return digest.strip().lower() == commitment(seed)


def weakness(seed: str) -> str:
    """A warning unless this seed looks drawn, as a hexadecimal number does; otherwise "". Words and
    dates have few places where a letter and a digit meet."""
    pairs = {pair for pair in pairwise(seed) if "".join(pair).isalnum()}
    if sum(one.isalpha() != two.isalpha() for one, two in pairs) >= _DRAWN:
        return ""
    return (
        "Warning: this seed can be guessed, and a bot that guesses it knows every hand. Leave seed"
        " out, and a fresh one is drawn."
    )
