"""Bots that are functions of this process: house bots of the benchmark, which never fail."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from tournament.bot.url_bot import Choice, StandIn

MoveFunction = Callable[[dict[str, Any], Sequence[str]], str]
"""Chooses one of the legal moves from a view, both in their wire form."""


class InProcessBot(StandIn):
    """Calls a function. Its moves cost no time, so a slow machine does not change a result."""

    url = ""

    def __init__(self, choose: MoveFunction) -> None:
        self._choose = choose

    def move(self, body: bytes, seconds: float) -> Choice:
        """The move that the function chooses, however long it takes."""
        asked = json.loads(body)
        return Choice(self._choose(asked["view"], asked["moves"]), 0.0)
