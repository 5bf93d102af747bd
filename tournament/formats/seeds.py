"""What is computed from a cup's seed: draws, and the commitment to the seed.

A draw is the SHA-256 of a JSON array of strings in UTF-8, without spaces between items and with
non-ASCII characters unescaped: the kind of draw, the cup's seed, and the subject of the draw. So
draws can be reproduced in any language.

A commitment is the SHA-256 of the seed's UTF-8 text in hexadecimal, as printed by `printf %s SEED |
sha256sum`. It is published before the first deal, and the seed at the end.
"""

import hashlib
import json
import secrets
from collections.abc import Iterable
from itertools import pairwise

_DRAWN = 4  # a random seed has at least so many different pairs of a letter next to a digit


def draw(kind: str, seed: str, *subject: str) -> str:
    """Return 64 pseudorandom hexadecimal digits that depend only on the kind of draw, the cup's
    seed and the subject."""
    text = json.dumps([kind, seed, *subject], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def shuffled(names: Iterable[str], kind: str, seed: str, *subject: str) -> list[str]:
    """Return the names in a pseudorandom order (see `draw`) that depends only on the set of names,
    the kind of draw, the cup's seed and the subject."""
    return sorted(names, key=lambda name: (draw(kind, seed, *subject, name), name))


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
