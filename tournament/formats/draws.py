"""Draws: hashes of a cup's seed, which can be reproduced in any language.

A draw is the SHA-256 of a JSON array of strings in UTF-8: the kind of draw, the cup's seed, and the
subject of the draw. The JSON has no spaces between items and does not escape non-ASCII characters.
"""

import hashlib
import json
from collections.abc import Iterable


def draw(kind: str, seed: str, *subject: str) -> str:
    """A draw of this kind from a cup's seed, as 64 hexadecimal digits."""
    text = json.dumps([kind, seed, *subject], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def game_seed(seed: str, key: str, number: int | None = None) -> str:
    """The seed of a block's cards as 32 hexadecimal digits, drawn for the `key` of the block.

    With fresh cards each match has its own seed, and `number` is the number of its seating, from 0.
    Otherwise `number` is None.
    """
    return draw("game", seed, key, *([] if number is None else [str(number)]))[:32]


def match_id(match_key: str, key: str, number: int) -> str:
    """The id of a match of the block with this `key`, as 16 hexadecimal digits.

    `number` is the number of the match's seating, from 0. Bots see the id, so it is drawn from
    `match_key`, a secret of the run, and not from the seed. A bot that guesses the seed cannot
    confirm its guess with an id.
    """
    return draw("match", match_key, key, str(number))[:16]


def shuffled(names: Iterable[str], kind: str, seed: str, *subject: str) -> list[str]:
    """The names in a drawn order, which does not depend on the order of `names`."""
    return sorted(names, key=lambda name: (draw(kind, seed, *subject, name), name))
