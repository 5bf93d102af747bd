"""Draws: hashes of a cup's seed, which can be reproduced in any language.

A draw is the SHA-256 of a JSON array of strings in UTF-8, without spaces between items and with
non-ASCII characters unescaped: the kind of draw, the cup's seed, and the subject of the draw.
"""

import hashlib
import json
from collections.abc import Iterable


def draw(kind: str, seed: str, *subject: str) -> str:
    """Return 64 pseudorandom hexadecimal digits that depend only on the kind of draw, the cup's
    seed and the subject."""
    text = json.dumps([kind, seed, *subject], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def shuffled(names: Iterable[str], kind: str, seed: str, *subject: str) -> list[str]:
    """Return the names in a pseudorandom order (see `draw`) that depends only on the set of names,
    the kind of draw, the cup's seed and the subject."""
    return sorted(names, key=lambda name: (draw(kind, seed, *subject, name), name))
