"""Commit to a seed before the first deal, and open the commitment after the last.

The commitment is the SHA-256 of the seed's UTF-8 text in hexadecimal, as printed by
`printf %s SEED | sha256sum`. It hides only a seed that cannot be guessed, so a seed that is
committed to always has a drawn part.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from math import log2

from tournament.config import Cup

ENOUGH_BITS = 64
"""A seed with fewer bits of chance counts as guessable."""

_WORD_BITS = 12.0  # a word of the 4,000 most common ones
_WORD_LETTERS = 8  # a longer run of letters counts as several words
_YEAR_BITS = 7.0
_PUNCTUATION_BITS = 1.0


def commitment(seed: str) -> str:
    """The commitment to a seed, which is published before the first deal."""
    return hashlib.sha256(seed.encode("utf-8")).hexdigest()


def committed_seed(named: str | None) -> str:
    """A fresh seed for a cup that commits to it; it begins with the seed that the cup names.

    The drawn part keeps anyone who sees the commitment, or a hand, from trying likely seeds.
    """
    drawn = secrets.token_hex(32)
    return drawn if named is None else f"{named}:{drawn}"


def follows(seed: str, cup: Cup) -> bool:
    """Whether a run of this cup may have this seed."""
    if cup.seed is None or seed == cup.seed:
        return True
    return cup.commit and seed.startswith(f"{cup.seed}:")


def opens(digest: str, seed: str) -> bool:
    """Whether this seed opens a commitment."""
    return hmac.compare_digest(digest.strip().lower().encode(), commitment(seed).encode())


def weakness(seed: str) -> str:
    """A warning if this seed looks guessable; otherwise "".

    A seed may be guessable without looking so, for example the hash of a date.
    """
    if estimated_bits(seed) >= ENOUGH_BITS:
        return ""
    return (
        "Warning: this seed can be guessed, and a bot that guesses it knows every hand. Leave seed"
        " out, and a fresh one is drawn."
    )


def estimated_bits(seed: str) -> float:
    """About how many bits of chance a seed has, if it consists of words, dates and random
    characters. What continues a sequence (`1234`, `aaaa`) or repeats adds nothing."""
    return sum(_bits(part) for part in _PARTS.findall(_surprising(seed)))


_PARTS = re.compile(r"(?:19|20)\d\d(?!\d)|\d+|[^\W\d_][^\W\d_A-Z]+|[A-Z]{2,}|.", re.DOTALL)
_UNPRONOUNCEABLE = re.compile(r"[bcdfghjklmnpqrstvwxz]{5}", re.IGNORECASE)


def _surprising(seed: str) -> str:
    """The seed without characters that continue a sequence or repeat three earlier ones."""
    kept = []
    for i, character in enumerate(seed):
        step = ord(character) - ord(seed[i - 1]) if i else 9
        last = ord(seed[i - 1]) - ord(seed[i - 2]) if i > 1 else 9
        sequence = step == last and abs(step) <= 1
        repeated = i > 1 and seed[i - 2 : i + 1] in seed[:i]
        if not (sequence or repeated):
            kept.append(character)
    return "".join(kept)


def _bits(part: str) -> float:
    """The bits of a year, a number, one or two letters, a word, or a single other character."""
    if re.fullmatch(r"(?:19|20)\d\d", part):
        return _YEAR_BITS
    if part.isdigit():
        return len(part) * log2(10)
    if not part.isalpha():
        return _PUNCTUATION_BITS
    if len(part) <= 2 or _UNPRONOUNCEABLE.search(part):
        return len(part) * log2(26)
    return _WORD_BITS * -(-len(part) // _WORD_LETTERS)
