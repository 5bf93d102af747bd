"""What a bot may say beside its move: a comment and some numbers, which change nothing."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice

MAX_COMMENT = 2000
MAX_NUMBERS = 16
CUT = " […]"
"""The end of a comment that was cut."""


@dataclass(frozen=True, slots=True)
class Info:
    """What is kept of an answer's `info`, and a sentence for each thing that was dropped of it."""

    kept: Mapping[str, str | float] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()


NOTHING = Info()


def read_info(value: object) -> Info:
    """Read the `info` of an answer, whatever it is."""
    if not isinstance(value, dict):
        return Info(dropped=('"info" must be an object.',))
    kept: dict[str, str | float] = {}
    dropped = []
    if "comment" in value:
        comment = value["comment"]
        if isinstance(comment, str):
            text = "".join(c for c in comment if unicodedata.category(c) not in ("Cc", "Cs"))
            if len(text) > MAX_COMMENT:
                text = text[: MAX_COMMENT - len(CUT)] + CUT
                dropped.append(f"The comment has more than {MAX_COMMENT} characters.")
            kept["comment"] = text
        else:
            dropped.append('"comment" must be a string.')
    numbers = ((name, each) for name, each in value.items() if name != "comment")
    for name, each in islice(numbers, MAX_NUMBERS):
        number = _finite(each)
        if not re.fullmatch("[a-z][a-z0-9_]{0,31}", name):
            dropped.append(f"{name[:40]!a} is no name: write [a-z][a-z0-9_]{{0,31}}.")
        elif number is None:
            dropped.append(f'"{name}" must be a finite number.')
        else:
            kept[name] = number
    if len(value) - ("comment" in value) > MAX_NUMBERS:
        dropped.append(f"There are more than {MAX_NUMBERS} numbers.")
    return Info(kept, tuple(dropped))


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
