"""Commit to a seed before the first deal, and open the commitment after the last.

The commitment is the SHA-256 of the seed's UTF-8 text in hexadecimal, as printed by
`printf %s SEED | sha256sum`. It hides only a seed that cannot be guessed; one such as
``2026-spring`` can be found by trial and error.
"""

from __future__ import annotations

import hashlib
import hmac

MIN_LENGTH = 16
"""Shorter seeds count as guessable."""


def commitment(seed: str) -> str:
    """The commitment to a seed, which is published before the first deal."""
    return hashlib.sha256(seed.encode("utf-8")).hexdigest()


def weakness(seed: str) -> str:
    """A warning if this seed is so short that it can be guessed; otherwise "".

    A long seed may be guessable too, but that cannot be detected.
    """
    if len(seed) >= MIN_LENGTH:
        return ""
    return (
        f"Warning: the commitment hides only a seed that nobody can guess, and this one has"
        f" {len(seed)} character{'s' * (len(seed) != 1)}; leave seed out, and a fresh one is drawn."
    )


def opens(digest: str, seed: str) -> bool:
    """Whether this seed opens a commitment."""
    return hmac.compare_digest(digest.strip().lower().encode(), commitment(seed).encode())
