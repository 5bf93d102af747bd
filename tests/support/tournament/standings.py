"""Matches in memory, and the lines of their standings."""

import random
from array import array
from collections.abc import Sequence
from itertools import product
from typing import Any

from tournament.records import Disqualify, MatchSummary, adjusted
from tournament.results.standings import Standing, Standings

BOTS = ("ann", "bob", "cat")


def match(
    block: int,
    number: int,
    seating: Sequence[str],
    scores: Sequence[int],
    *,
    struck: tuple[int, ...] = (),
    faults: Sequence[Sequence[int]] | None = None,
    times: Sequence[Sequence[float]] | None = None,
    **fields: Any,
) -> MatchSummary:
    """Match `number` of a block. Faults are by seat and kind, and times in milliseconds by seat."""
    seats = len(seating)
    usual: dict[str, Any] = {"round": 1, "stage": "", "seed": "", "deals": 1, "sides": None}
    return MatchSummary(
        match=f"{block}-{number}",
        block=block,
        number=number,
        seatings=seats,
        table=tuple(sorted(set(seating))),
        seating=tuple(seating),
        scores=tuple(scores),
        adjusted=adjusted(tuple(scores), struck),
        struck=struck,
        faults=tuple(map(tuple, faults or [(0,) * 4] * seats)),
        times=tuple(array("f", row) for row in times or [()] * seats),
        **usual | fields,
    )


def row(table: Standings, bot: str) -> Standing:
    return next(line for line in table.standings if line.bot == bot)


def without(*bots: str) -> tuple[Disqualify, ...]:
    at = "2026-11-22T10:00:00+00:00"
    return tuple(Disqualify(number=number, at=at, bot=bot) for number, bot in enumerate(bots, 1))


def cup(blocks: int = 12, seed: int = 1) -> list[MatchSummary]:
    """Blocks of three rotations in which ann is better than the other bots, which are equal."""
    dice = random.Random(seed)
    matches = []
    for block, turn in product(range(blocks), range(3)):
        seating = BOTS[turn:] + BOTS[:turn]
        ann, bob = dice.randint(-4, 4), dice.randint(-4, 4)
        luck = zip((ann, bob, -ann - bob), seating, strict=True)
        points = [chance + (4 if bot == "ann" else -2) for chance, bot in luck]
        matches.append(match(block, turn, seating, points))
    return matches
