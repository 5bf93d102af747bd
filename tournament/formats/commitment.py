"""Committing to a seed before the first deal, and opening it after the last.

The SHA-256 of the seed's UTF-8 text, in hexadecimal, binds the organiser to the seed:
`printf %s SEED | sha256sum` prints the same. It hides the seed only where nobody can guess it;
one such as ``2026-spring`` can be found by trying.
"""

from __future__ import annotations

import hashlib
import hmac

SHORTEST = 16
"""Characters of a seed below which it is taken for one that can be guessed."""


def commitment(seed: str) -> str:
    """What is published of a seed before the first deal: the SHA-256 of its UTF-8 text."""
    return hashlib.sha256(seed.encode("utf-8")).hexdigest()


def weakness(seed: str) -> str:
    """Why a commitment to this seed hides little, as a sentence; "" if nothing tells.

    A long seed may be guessable too, which cannot be seen from it.
    """
    if len(seed) >= SHORTEST:
        return ""
    return (
        f"Warning: the commitment hides only a seed that nobody can guess, and this one has"
        f" {len(seed)} character{'s' * (len(seed) != 1)}; leave seed out, and a fresh one is drawn."
    )


def opens(digest: str, seed: str) -> bool:
    """Whether this seed is the one that was committed to."""
    return hmac.compare_digest(digest.strip().lower().encode(), commitment(seed).encode())
