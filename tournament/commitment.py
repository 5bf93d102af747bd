"""Committing to a seed before the first deal, and opening it after the last.

The SHA-256 of the seed's UTF-8 text, in hexadecimal, binds the organiser to the seed. It hides
it as well only where the seed cannot be guessed: a seed such as ``2026-spring`` can be found by
trying.
"""

from __future__ import annotations

import hashlib
import hmac


def commitment(seed: str) -> str:
    """What is published before the first deal: `printf %s SEED | sha256sum` prints the same."""
    return hashlib.sha256(seed.encode()).hexdigest()


def opens(digest: str, seed: str) -> bool:
    """Whether this seed is the one that was committed to."""
    return hmac.compare_digest(digest.strip().lower().encode(), commitment(seed).encode())
