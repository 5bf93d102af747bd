"""Commitments to a cup's seed, which are published before the first deal and opened at the end.

A commitment is the SHA-256 of the seed's UTF-8 text in hexadecimal, as printed by `printf %s SEED |
sha256sum`.
"""

import hashlib
import secrets
from itertools import pairwise

_DRAWN = 4  # a random seed has at least so many different pairs of a letter next to a digit


def commitment(seed: str) -> str:
    """Return the commitment to a seed (see the module), as 64 hexadecimal digits."""
    return hashlib.sha256(seed.encode("utf-8")).hexdigest()


def committed_seed(named: str | None) -> str:
    """Return a fresh seed of 64 random hexadecimal digits for a cup that commits to its seed. If
    the CUP.toml has a seed (`named`), that seed and a colon come before the digits."""
    drawn = secrets.token_hex(32)
    return drawn if named is None else f"{named}:{drawn}"


def follows(seed: str, named: str | None, committed: bool) -> bool:
    """Return whether a run may have this seed. If `named`, the seed in the CUP.toml, is None, any
    seed is allowed. Otherwise the seed must equal `named`. If the cup commits to its seed
    (`committed`), the seed may also be `named`, a colon and any text."""
    return named in (None, seed) or (committed and seed.startswith(f"{named}:"))


def weakness(seed: str) -> str:
    """Return a warning if a seed does not look like a random hexadecimal number, otherwise ""."""
    # In a random number, letters often stand next to digits; in words and dates they rarely do.
    pairs = {pair for pair in pairwise(seed) if "".join(pair).isalnum()}
    if sum(left.isalpha() != right.isalpha() for left, right in pairs) >= _DRAWN:
        return ""
    return (
        "Warning: this seed can be guessed, and a bot that guesses it knows every hand. Leave seed"
        " out, and a fresh one is drawn."
    )
