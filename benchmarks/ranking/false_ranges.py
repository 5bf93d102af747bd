"""How often rank ranges claim too much in simulated cups.

`python -m benchmarks ranking.false_ranges` prints the section of docs/benchmarks.md;
`python -m benchmarks.ranking.false_ranges --cups 1000 [--row NAME]` prints all rows, by kind of
points.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.figures import Figure, Section
from benchmarks.ranking.false_claims import (
    Count,
    apart,
    at_any_time,
    at_end,
    fixed,
    missed,
    paired_by_results,
    watched,
    watched_halving,
)
from benchmarks.ranking.simulated_cups import (
    NOISES,
    Draw,
    Noise,
    gauntlet,
    halving,
    knockout,
    round_robin,
    spaced,
    strong,
    swiss,
)
from tournament.ranking.arrays import Floats

AIM = 6.0
"""False in 100 cups: 5, and what simulation cannot tell from it."""


Row = Callable[[Noise, int], Count]


@dataclass(frozen=True)
class Claim:
    """A row of the table: what is counted, by our rule and by the peer's.

    ``cups`` of all kinds of points together; 0 leaves it out of docs/benchmarks.md.
    """

    name: str
    count: Row
    usual: Row | None = None
    cups: int = 0
    peer: str = "intervals apart"
    aim: float = AIM

    def by_kind(self, row: Row, cups: int) -> Mapping[str, Count]:
        """Counts of cups in equal parts for every kind of points."""
        return {kind: row(noise, cups // len(NOISES)) for kind, noise in NOISES.items()}


def claims() -> Iterator[Claim]:
    """All rows."""
    shown = {(3, 20): 1000, (4, 10): 1000, (10, 2): 1000, (20, 1): 1000, (30, 1): 500, (40, 1): 500}
    for bots, deals in (
        (3, 3),
        (3, 8),
        (3, 20),
        (3, 100),
        (4, 1),
        (4, 3),
        (4, 10),
        (10, 1),
        (10, 2),
        (10, 5),
        (20, 1),
        (30, 1),
        (40, 1),
    ):
        name = f"{bots} equal bots, round-robin, blocks a table: {deals}"
        yield _final(name, round_robin(deals), np.zeros(bots), shown.get((bots, deals), 0))
    formats = (
        ("round-robin of 10, blocks a table: 2", round_robin(2), 10, 0, 500),
        ("gauntlet of 12, blocks a table: 1", gauntlet(1), 12, 0, 0),
        ("gauntlet of 12, blocks a table: 5", gauntlet(5), 12, 500, 500),
        ("knockout of 12, blocks a table: 10", knockout(10), 12, 500, 500),
        ("knockout of 12, blocks a table: 40", knockout(40), 12, 0, 0),
        ("knockout of 30, blocks a table: 10", knockout(10), 30, 500, 500),
        ("knockout of 30, blocks a table: 40", knockout(40), 30, 0, 0),
    )
    for name, draw, bots, equal, unequal in formats:
        if not name.startswith("round-robin"):
            yield _final(f"{name}, equal bots", draw, np.zeros(bots), equal)
        yield _final(f"{name}, two classes", draw, strong(bots), unequal)
        yield _final(f"{name}, evenly spaced", draw, spaced(bots, 2.0), unequal)
    for bots, rounds, deals, cups in (
        (12, 5, 1, 0),
        (12, 5, 10, 500),
        (30, 6, 5, 500),
        (30, 6, 20, 0),
        (40, 6, 40, 0),
    ):
        for kind, effects in (("equal bots", np.zeros(bots)), ("two classes", strong(bots))):
            name = f"Swiss of {bots}, {rounds} rounds, blocks a table: {deals}, {kind}"
            row = partial(fixed, swiss(rounds, deals), effects)
            ours = partial(row, rule=paired_by_results)
            yield Claim(name, ours, partial(row, rule=at_end), cups, "ranges for the end")
    for bots, deals, cups in ((12, 5, 0), (12, 20, 500), (30, 5, 500), (30, 20, 200)):
        for kind, effects in (("equal bots", np.zeros(bots)), ("two classes", strong(bots))):
            name = f"halving of {bots}, deals: {deals}, {kind}"
            row = partial(fixed, halving(deals), effects)
            ours = partial(row, rule=at_any_time)
            yield Claim(name, ours, partial(row, rule=at_end), cups, "ranges for the end")
    for bots, deals, cups in ((12, 20, 500), (30, 10, 200)):
        name = f"halving of {bots} equal bots, deals: {deals}, 13 looks"
        watch_stages = partial(watched_halving, bots, deals)
        usual = partial(watch_stages, rule=at_end)
        yield Claim(name, watch_stages, usual, cups, "ranges for the end")
    for bots, blocks, step, cups in ((3, 200, 5, 500), (3, 1000, 5, 0), (10, 1200, 30, 200)):
        name = f"{bots} equal bots, a look every {step} blocks up to {blocks}"
        watch = partial(watched, bots, blocks, step)
        yield Claim(name, watch, partial(watch, rule=at_end), cups, "ranges for the end")
    for name, draw, effects in (
        ("3 equal bots, 5 blocks", round_robin(5), np.zeros(3)),
        ("3 equal bots, 20 blocks", round_robin(20), np.zeros(3)),
        ("round-robin of 10, two classes", round_robin(1), strong(10)),
        ("gauntlet of 12, two classes", gauntlet(2), strong(12)),
    ):
        yield Claim(f"score outside its interval: {name}", partial(missed, draw, effects), aim=8.0)


def _final(name: str, draw: Draw, effects: Floats, cups: int) -> Claim:
    row = partial(fixed, draw, effects)
    return Claim(name, row, partial(row, rule=apart), cups)


def sections() -> list[Section]:
    """What is false, by our rules and by those of the peers."""
    figures, kinds = [], []
    for claim in claims():
        if claim.cups and claim.usual:
            found = claim.by_kind(claim.count, claim.cups)
            ours = _pooled(found.values()).percent
            theirs = _pooled(claim.by_kind(claim.usual, claim.cups).values()).percent
            ratio = AIM / max(ours, 100 / claim.cups)
            what = f"{claim.name} ({claim.cups:,} cups)"
            figures.append(Figure(what, ours, claim.peer, theirs, "false in 100", ratio, 1.0))
            kinds.append(f"| {claim.name} | {_cells(found)} |")
    how = (
        "Simulated cups of bots of known strength: in how many of 100 some rank range contradicts"
        " the true order. Cups in equal parts for five kinds of points; below, each kind by"
        " itself. The peers: bots whose 95 % intervals of the plain means do not overlap are"
        " ordered; and the ranges for the end of a run that was planned in advance, where a run is"
        " looked at again and again, or pairs by results."
        " Two classes have effects of 0.5 and -0.5, evenly spaced bots from 1 to -1; normal points"
        " have a standard deviation of 1. The ratio is the promise of 6 to ours (or to one cup"
        " where none was false)."
    )
    note = "\n".join(["False in 100 by kind of points:", "", *_kinds_head(), *kinds])
    return [Section("Rank ranges", how, figures, note)]


def _pooled(counts: Iterable[Count]) -> Count:
    found = list(counts)
    return Count(sum(count.false for count in found), sum(count.of for count in found))


def _kinds_head() -> list[str]:
    return ["| cup | " + " | ".join(NOISES) + " |", "| --- |" + " ---: |" * len(NOISES)]


def _cells(found: Mapping[str, Count]) -> str:
    return " | ".join(f"{count.percent:.1f}" for count in found.values())


def main() -> None:
    """Print every row by kind of points, as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cups", type=int, default=1000, help="of all kinds of points together")
    parser.add_argument("--row", default="", help="rows whose name contains this")
    asked = parser.parse_args()
    print(*_kinds_head(), sep="\n")
    for claim in claims():
        if asked.row in claim.name:
            found = claim.by_kind(claim.count, asked.cups)
            print(f"| {claim.name} (≤ {claim.aim:g}) | {_cells(found)} |", flush=True)


if __name__ == "__main__":
    main()
