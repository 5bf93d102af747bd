"""Draws: hashes of a cup's seed, reproducible in any language.

A draw is the SHA-256 of the UTF-8 text of a JSON array of strings without spaces: the kind of draw,
the cup's seed, and then the subject of the draw. Non-ASCII characters are not escaped.
"""

import hashlib
import json
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def draw(what: str, seed: str, *about: str) -> str:
    """A draw as 64 hexadecimal digits."""
    text = json.dumps([what, seed, *about], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def game_seed(seed: str, key: str, number: int | None = None) -> str:
    """The seed of a block's games, from the key of the block: 32 hexadecimal digits.

    With fresh cards, `number` is the number of the match, and the seed is that match's own.
    """
    return draw("game", seed, key, *([] if number is None else [str(number)]))[:32]


def match_id(match_key: str, key: str, number: int) -> str:
    """The id of a match: 16 hexadecimal digits.

    Bots see the id, so it is drawn from a secret of the run. A bot that guesses a seed therefore
    cannot confirm the guess by an id.
    """
    return draw("match", match_key, key, str(number))[:16]


def shuffled(names: Iterable[str], what: str, seed: str, *about: str) -> list[str]:
    """The names in a drawn order, independent of the order of `names`."""
    return sorted(names, key=lambda name: (draw(what, seed, *about, name), name))
