"""How often a table of ranks is false, and how much it settles.

`python -m benchmarks ranking.claims` prints the section of docs/benchmarks.md.
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.figures import Figure, Section
from tools.simulation import simulated_cups as cups_of
from tools.simulation.claims import MIXED, Rule, anytime, claims, final, stopped, watched
from tools.simulation.simulated_cups import NOISES, Draw, normal, round_robin, simulated, spaced
from tournament.ranking.arrays import Floats

PLAYED = 400
"""Cups of each kind of twelve real bots."""

REAL: tuple[tuple[str, Draw, Rule], ...] = (
    *((f"knockout of 12, {n} blocks a table", cups_of.knockout(n), final) for n in (10, 20, 40)),
    *((f"gauntlet of 12, {n} blocks a table", cups_of.gauntlet(n), final) for n in (5, 20)),
    *((f"Swiss of 12, 5 rounds of {n} blocks", cups_of.swiss(5, n), anytime) for n in (40, 160)),
    ("halving of 12, 20 deals", cups_of.halving(20), anytime),
    *((f"round-robin of 12, {n} blocks a table", round_robin(n), final) for n in (2, 10)),
)
FORMATS: tuple[tuple[str, Draw, Rule, int], ...] = (
    ("gauntlet of 12, 5 blocks a table", cups_of.gauntlet(5), final, 200),
    ("knockout of 12, 10 blocks a table", cups_of.knockout(10), final, 400),
    ("Swiss of 12, 6 rounds of 5 blocks", cups_of.swiss(6, 5), anytime, 200),
    ("halving of 12, 20 deals", cups_of.halving(20), anytime, 200),
)


def simulated_kinds() -> Iterator[tuple[str, Draw, Floats, Rule, int]]:
    """Yield cups with simulated points: name, draw, effects, rule, number."""
    for bots, deals, cups in ((3, 20, 2000), (4, 10, 2000), (10, 2, 500), (20, 1, 200)):
        name = f"{bots} equal bots, round-robin, {deals} blocks a table"
        yield name, round_robin(deals), np.zeros(bots), final, cups
    for name, draw, rule, cups in FORMATS:
        yield f"{name}, equal bots", draw, np.zeros(12), rule, cups
        yield f"{name}, two classes", draw, cups_of.strong(12), rule, cups


def sections() -> list[Section]:
    """False claims, and how much is settled."""
    figures = []
    for name, draw, rule in REAL:
        played = claims(draw, -MIXED.astype(np.float64), cups_of.real(MIXED), PLAYED, rule)
        figures.append(_figure(f"{name}, real points ({PLAYED} cups)", played.percent))
    for name, draw, effects, rule, cups in simulated_kinds():
        plays = [simulated(effects, noise) for noise in NOISES.values()]
        parts = [claims(draw, effects, play, cups // len(plays), rule) for play in plays]
        false = sum(part.percent for part in parts) / len(parts)
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
        " of Dou Dizhu tables of the same bots, drawn from 400 played blocks each; the twelve"
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
