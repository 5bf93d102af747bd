"""Committing to a seed before the first deal, and opening it after the last.

The SHA-256 of the seed's UTF-8 text, in hexadecimal, binds the organiser to the seed:
`printf %s SEED | sha256sum` prints the same. It hides the seed only where nobody can guess it;
one such as ``2026-spring`` can be found by trying.
"""

from __future__ import annotations

import hmac

from tournament.formats import commitment

__all__ = ["commitment", "opens"]


def opens(digest: str, seed: str) -> bool:
    """Whether this seed is the one that was committed to."""
    return hmac.compare_digest(digest.strip().lower().encode(), commitment(seed).encode())
