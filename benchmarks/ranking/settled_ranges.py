"""What rank ranges settle in simulated cups, and what looking at any time costs."""

from __future__ import annotations

import numpy as np

from benchmarks.figures import Figure, Section
from benchmarks.ranking.false_claims import Rule, apart, at_any_time, at_end, fixed
from benchmarks.ranking.simulated_cups import (
    SEATS,
    Draw,
    normal,
    observed,
    played,
    rare_loss,
    round_robin,
    schedule,
    spaced,
)
from tournament.ranking.arrays import Floats, Ints

_POWER = (
    ("3 bots, 40 blocks", round_robin(40), spaced(3, 1.0), 200),
    ("10 bots, 2 blocks a table", round_robin(2), spaced(10, 2.0), 200),
    ("20 bots, 1 block a table", round_robin(1), spaced(20, 2.0), 50),
)


def sections() -> list[Section]:
    """Pairs settled at the end, rare losses, and blocks needed at any time."""
    figures = []
    for name, draw, effects, cups in _POWER:
        ours, theirs = (settled_share(draw, effects, cups, rule) for rule in (at_end, apart))
        what = f"{name}: pairs rightly settled ({cups} cups)"
        figures.append(Figure(what, ours, "intervals apart", theirs, "in 100", ours / theirs))
    for blocks in (20, 40, 100, 400):
        counts = [
            fixed(round_robin(blocks), np.zeros(3), rare_loss, 500, rule)
            for rule in (at_end, apart)
        ]
        ours, theirs = (count.percent for count in counts)
        what = f"false, if one of three equal bots loses rarely and much: {blocks} blocks"
        figures.append(
            Figure(what, ours, "intervals apart", theirs, "in 100", theirs / max(ours, 0.2))
        )
    for effect in (0.3, 0.5, 1.0):
        once, ever = blocks_needed(effect, 100)
        what = f"blocks to settle two of three bots, {effect} standard deviations, at any time"
        figures.append(Figure(what, ever, "looking once, at the end", once, "blocks", once / ever))
    how = (
        "Normal points. Pairs: bots evenly spaced, effects from 0.5 to -0.5 for 3 bots and from 1"
        " to -1 for the others, looked at once at the end. Blocks: the median until the difference"
        " is settled, where one may look after every fifth block, beside the number at which half"
        " of the cups that are looked at once settle it; standard deviations are those of the"
        " difference in a block. Rarely and much: in one block of 20 it loses 19 points, in all"
        " others it wins one; no method can know of a loss that has not come yet."
    )
    return [Section("What rank ranges settle", how, figures)]


def settled_share(draw: Draw, effects: Floats, cups: int, rule: Rule) -> float:
    """Pairs of unequal bots that are rightly settled, in 100, with normal points."""
    random = np.random.default_rng(1)
    right = effects[:, np.newaxis] > effects
    found = sum(
        int((rule(draw(random, effects, normal), str(cup)) & right).sum()) for cup in range(cups)
    )
    return 100 * found / (cups * int(right.sum()))


def blocks_needed(effect: float, cups: int) -> tuple[float, float]:
    """Median blocks until two of three bots are settled, whose difference has a mean of
    ``effect`` standard deviations: looking once (the first look that would do), and anytime."""
    random = np.random.default_rng(1)
    step = 5
    effects = np.array([effect, 0.0, 0.0]) * np.sqrt(2) / (SEATS / (SEATS - 1))
    once, ever = [], []
    for _ in range(cups):
        seats = schedule(random, SEATS, 3000)
        points = played(random, seats, effects, normal)
        ever.append(_first(seats, points, step))
    for blocks in range(step, 3000, step):
        shown = 0
        for _ in range(cups):
            seats = schedule(random, SEATS, blocks)
            data = observed(seats, played(random, seats, effects, normal), SEATS)
            shown += bool(at_end(data, "needed")[0, 1])
        once.append(blocks)
        if 2 * shown >= cups:
            break
    return float(once[-1]), float(np.median(ever))


def _first(seats: Ints, points: Floats, step: int) -> int:
    for look in range(step, len(seats) + 1, step):
        if at_any_time(observed(seats[:look], points[:look], SEATS), "")[0, 1]:
            return look
    return len(seats)
