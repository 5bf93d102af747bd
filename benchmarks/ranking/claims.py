"""How often a table of ranks is false, and how much it settles.

`python -m benchmarks ranking.claims` prints the section of docs/benchmarks.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.figures import Figure, Section
from tools.simulation.claims import (
    MIXED,
    Claims,
    Rule,
    anytime,
    claims,
    final,
    stopped,
    watched,
)
from tools.simulation.simulated_cups import (
    NOISES,
    Draw,
    Play,
    gauntlet,
    halving,
    knockout,
    normal,
    real,
    round_robin,
    simulated,
    spaced,
    strong,
    swiss,
)
from tournament.ranking.arrays import Floats


@dataclass(frozen=True)
class Row:
    """Cups of one kind."""

    name: str
    draw: Draw
    effects: Floats
    play: Play
    rule: Rule
    cups: int


def real_rows() -> Iterator[Row]:
    """Cups of twelve real bots."""
    order = -MIXED.astype(np.float64)

    def row(name: str, draw: Draw, rule: Rule) -> Row:
        return Row(f"{name}, real points", draw, order, real(MIXED), rule, 400)

    for deals in (10, 20, 40):
        yield row(f"knockout of 12, {deals} blocks a table", knockout(deals), final)
    for deals in (5, 20):
        yield row(f"gauntlet of 12, {deals} blocks a table", gauntlet(deals), final)
    for deals in (40, 160):
        yield row(f"Swiss of 12, 5 rounds of {deals} blocks", swiss(5, deals), anytime)
    yield row("halving of 12, 20 deals", halving(20), anytime)
    yield row("round-robin of 12, 2 blocks a table", round_robin(2), final)
    yield row("round-robin of 12, 10 blocks a table", round_robin(10), final)


def simulated_rows() -> Iterator[Row]:
    """Cups in equal parts with each kind of points."""
    for bots, deals, cups in ((3, 20, 2000), (4, 10, 2000), (10, 2, 500), (20, 1, 200)):
        name = f"{bots} equal bots, round-robin, {deals} blocks a table"
        yield from _kinds(name, round_robin(deals), np.zeros(bots), final, cups)
    formats: tuple[tuple[str, Draw, Rule, int], ...] = (
        ("gauntlet of 12, 5 blocks a table", gauntlet(5), final, 200),
        ("knockout of 12, 10 blocks a table", knockout(10), final, 400),
        ("Swiss of 12, 6 rounds of 5 blocks", swiss(6, 5), anytime, 200),
        ("halving of 12, 20 deals", halving(20), anytime, 200),
    )
    for name, draw, rule, cups in formats:
        yield from _kinds(f"{name}, equal bots", draw, np.zeros(12), rule, cups)
        yield from _kinds(f"{name}, two classes", draw, strong(12), rule, cups)


def _kinds(name: str, draw: Draw, effects: Floats, rule: Rule, cups: int) -> Iterator[Row]:
    for noise in NOISES.values():
        yield Row(name, draw, effects, simulated(effects, noise), rule, cups // 5)


def sections() -> list[Section]:
    """False claims, and what is settled."""
    figures = []
    for rows in (real_rows(), simulated_rows()):
        together: dict[str, list[Claims]] = {}
        for row in rows:
            result = claims(row.draw, row.effects, row.play, row.cups, row.rule)
            together.setdefault(row.name, []).append(result)
        for name, parts in together.items():
            cups = sum(result.cups for result in parts)
            false = 100 * sum(result.false for result in parts) / cups
            figures.append(_figure(f"{name} ({cups} cups)", false))
    for every in (10, 20, 50):
        title = f"[stop] top = 1 of three equal bots, one loses much in 1 of {every} (400 cups)"
        figures.append(_figure(title, stopped(every, 400).percent))
    for bots, deals, looks in ((3, 200, 40), (10, 10, 40)):
        result = watched(round_robin(deals), bots, simulated(np.zeros(bots), normal), 200, looks)
        title = f"{bots} equal bots, {looks} looks, {deals} blocks a table (200 cups)"
        figures.append(_figure(title, result.percent))
    how = (
        "In how many of 100 cups some rank range excludes a possible rank. Real points are those"
        f" of Dou Dizhu tables of the same bots, drawn from {400} played blocks each; the twelve"
        " bots are four each of sensible, greedy and random. Simulated points are in equal parts"
        " normal, heavy-tailed, skewed, two-valued, and doubled as in Dou Dizhu. The standard error"
        " is the root of p (100 - p) / cups: 1.1 for 5 of 400. The limit is 5 and what so many cups"
        " cannot tell from it."
    )
    return [Section("Rank ranges", how, figures), _settled()]


def _figure(title: str, false: float) -> Figure:
    return Figure(title, false, "limit", 6.0, "false in 100", 6.0 / max(false, 0.5), 1.0)


def _settled() -> Section:
    figures = []
    for name, draw, effects, cups in (
        ("3 bots, 40 blocks", round_robin(40), spaced(3, 1.0), 300),
        ("10 bots, 2 blocks a table", round_robin(2), spaced(10, 2.0), 100),
        ("20 bots, 1 block a table", round_robin(1), spaced(20, 2.0), 40),
    ):
        share = 100 * claims(draw, effects, simulated(effects, normal), cups).right
        title = f"{name} ({cups} cups)"
        figures.append(Figure.more(title, share, "all pairs", 100, "in 100"))
    how = (
        "Pairs of unequal bots that a round-robin settles rightly at its end: bots evenly spaced,"
        " effects from 0.5 to -0.5 for 3 bots and from 1 to -1 for the others, normal points with"
        " a standard deviation of 1."
    )
    return Section("What rank ranges settle", how, figures)
