"""How often a range in a simulated ladder is false at any look, and how much is settled.

`python -m benchmarks ranking.ladders` prints the section of docs/benchmarks.md.
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.figures import Figure, Section
from tools.simulation import ladders
from tools.simulation.claims import Claims
from tools.simulation.ladders import BLOCKS, BOTS, FEW, GAP, LONG, STAY
from tools.simulation.simulated_cups import spaced

CUPS = 100

BEFORE = {FEW: 19_600, 200: 300_000}
"""Blocks until version 0.3 settled the top 3, by number of bots. With 200, it never did."""


def broken() -> Iterator[tuple[str, list[ladders.Case], float, float | None]]:
    """Yield ladders that the proof does not cover: name, cases, % false in version 0.3, limit.

    The limit is None if nothing is promised.
    """
    effects = np.random.default_rng(3).permutation(spaced(FEW, 2.0))
    yield "away when a stronger opponent is drawn", [ladders.away(2 * effects)], 93, 5
    yield "a middling bot jumps within a version", [ladders.jump(effects)], 100, 10
    yield "the best bot falls within a version", [ladders.jump(effects, late=True)], 100, None
    yield "learns within a version", [ladders.learning(effects)], 98, None
    yield "rare large losses, 1 in 100", [ladders.rare_losses(FEW)], 44, None
    yield "styles that beat each other in a circle", [ladders.circle(effects)], 33, None


def sections(cups: int = CUPS) -> list[Section]:
    """False claims, how much is settled, and how soon the top 3 are."""
    figures = []
    for name, cases in ladders.rows():
        result = ladders.seasons(cases, cups)
        right = f", {100 * result.right:.0f} of 100 pairs settled" if result.right else ""
        figures.append(_figure(f"{name} ({cups} ladders{right}{_alarms(result)})", result))
    how = (
        f"Ladders of {BLOCKS:,} blocks, {BOTS} bots of which at most {STAY} play at a time, a look"
        f" after every epoch; the last three rows have {FEW} bots that stay or leave as they say. A"
        " ladder is false if some look puts two bots in a wrong order. Points are in turn normal,"
        " heavy-tailed, skewed, two-valued and doubled, or those of real Dou Dizhu tables."
    )
    return [Section("Ladders", how, figures), _broken(cups), _settling()]


def _alarms(result: Claims) -> str:
    return f", alarms for {result.alarms} bots" if result.alarms else ""


def _figure(title: str, result: Claims, limit: float = 5.0) -> Figure:
    error = f"± {(result.percent * (100 - result.percent) / result.cups) ** 0.5:.1f}"
    if not result.percent:
        error = f"< {100 * (1 - 0.05 ** (1 / result.cups)):.1f} at 95 %"
    ratio = limit / max(result.percent, 0.5)
    return Figure(f"{title} {error}", result.percent, "limit", limit, "false in 100", ratio, 1)


def _broken(cups: int) -> Section:
    figures = []
    for name, cases, before, limit in broken():
        result = ladders.seasons(cases, cups)
        wrong = f", wrong for {result.wrong:,.0f} blocks" if result.wrong else ""
        title = f"{name} ({cups} ladders{_alarms(result)}{wrong})"
        figure = _figure(f"{title}, 0.3: {before:.0f}", result, limit or 5.0)
        if limit is None:
            ratio = before / max(result.percent, 0.5)
            figure = Figure(title, result.percent, "0.3", before, "false in 100", ratio)
        figures.append(figure)
    how = (
        f"The same with {FEW} bots in {LONG:,} blocks, all of which play all the time. Two are away"
        " whenever a stronger opponent is drawn; or one bot changes; or ten win a little and lose"
        " 30 points in 1 block of 100; or three styles beat each other by 0.3 of a typical"
        " difference. A ladder is false if some look contradicts the order of that moment, so a"
        " change makes ladders false until the alarm rings."
    )
    return Section("Ladders outside their suppositions", how, figures)


def _settling() -> Section:
    figures = []
    for bots, cups in ((FEW, 40), (200, 4)):
        blocks = np.array([ladders.settling(bots, number) for number in range(cups)])
        mean, error = float(blocks.mean()), float(blocks.std() / (cups - 1) ** 0.5)
        title = f"{bots} bots ({cups} ladders) ± {error:,.0f}"
        figures.append(Figure.less(title, mean, "0.3 (16 ladders)", BEFORE[bots], "blocks"))
    how = (
        f"Blocks until the order of the top 3 is settled, of bots that are {GAP:g} standard"
        " deviations of their points apart."
    )
    return Section("Blocks until the top 3 are settled", how, figures)
