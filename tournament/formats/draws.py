"""Draws: hashes of a cup's seed, which can be reproduced in any language.

A draw is the SHA-256 of a JSON array of strings in UTF-8, without spaces between items and with
non-ASCII characters unescaped: the kind of draw, the cup's seed, and the subject of the draw.
"""

import hashlib
import json
from collections.abc import Iterable


def draw(kind: str, seed: str, *subject: str) -> str:
    """Return the draw of this kind for this subject from a cup's seed, as 64 hexadecimal digits."""
    text = json.dumps([kind, seed, *subject], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def shuffled(names: Iterable[str], kind: str, seed: str, *subject: str) -> list[str]:
    """Return the names in an order drawn for this subject (see `draw`), whatever their order."""
    return sorted(names, key=lambda name: (draw(kind, seed, *subject, name), name))
