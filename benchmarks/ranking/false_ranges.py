"""How often rank ranges claim too much, and what they settle, in simulated cups.

`python -m benchmarks ranking.false_ranges` prints the section of docs/benchmarks.md;
`python -m benchmarks.ranking.false_ranges --cups 1000 [--row NAME]` prints all rows, by kind of
points.

A claim is false where it contradicts the true order; of equal bots any claim is false.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import comb

import numpy as np

from benchmarks.figures import Figure, Section
from benchmarks.ranking.simulated_cups import (
    NOISES,
    SEATS,
    Draw,
    Noise,
    gauntlet,
    halving,
    knockout,
    normal,
    observed,
    played,
    rare_loss,
    round_robin,
    schedule,
    spaced,
    strong,
    swiss,
)
from tournament.ranking import adaptive, anytime
from tournament.ranking.arrays import Floats, Ints
from tournament.ranking.bootstrap import LEVEL
from tournament.ranking.distributions import student_quantile
from tournament.ranking.effects import fit
from tournament.ranking.observations import Observations, from_blocks
from tournament.ranking.rank_ranges import Settled, settled_pairs
from tournament.ranking.ratings import compare, rating_groups, ratings
from tournament.ranking.score_intervals import score_intervals

AIM = 6.0
"""False in 100 cups: 5, and what simulation cannot tell from it."""


@dataclass(frozen=True)
class Count:
    """How often something was false, of how many."""

    false: int
    of: int

    @property
    def percent(self) -> float:
        """In 100."""
        return 100 * self.false / max(1, self.of)


Rule = Callable[[Observations, str], Settled]
"""Which bots are settled above which, from a cup and a seed."""


def at_end(data: Observations, seed: str) -> Settled:
    """The simultaneous ranges of a finished run."""
    return settled_pairs(fit(data), seed)


def at_any_time(data: Observations, seed: str) -> Settled:
    """The ranges of an unfinished run, which need no random numbers."""
    return anytime.settled_pairs(fit(data))


def paired_by_results(data: Observations, seed: str) -> Settled:
    """The ranges of a run in which results decide who meets whom."""
    return adaptive.settled_pairs(fit(data))


def apart(data: Observations, seed: str) -> Settled:
    """The usual rule, as a peer: bots are settled whose 95 % intervals do not overlap.

    Student's intervals of the plain means over blocks.
    """
    blocks = (data.deals > 0).sum(axis=0)
    off = (data.points - data.plain) * data.deals / data.deals.sum(axis=0)
    error = np.sqrt((off**2).sum(axis=0) * blocks / np.maximum(blocks - 1, 1))
    arm = student_quantile(np.maximum(blocks - 1, 1), (1 - LEVEL) / 2) * error
    arm = np.where(blocks > 1, arm, np.inf)
    answer: Settled = (data.plain - arm)[:, np.newaxis] > data.plain + arm
    return answer


def contradicted(settled: Settled, effects: Floats) -> bool:
    """Whether a claimed order is not the true one; none is true of equal bots."""
    return bool((settled & ~(effects[:, np.newaxis] > effects)).any())


def fixed(draw: Draw, effects: Floats, noise: Noise, cups: int, rule: Rule = at_end) -> Count:
    """Cups in which some rank range is false, looked at once at the end."""
    random = np.random.default_rng(1)
    false = 0
    for cup in range(cups):
        false += contradicted(rule(draw(random, effects, noise), str(cup)), effects)
    return Count(false, cups)


def watched(
    bots: int, blocks: int, step: int, noise: Noise, cups: int, rule: Rule = at_any_time
) -> Count:
    """Round-robins of equal bots, looked at after every ``step`` blocks, in which some look
    shows a false range."""
    random = np.random.default_rng(1)
    equal = np.zeros(bots)
    false = 0
    for cup in range(cups):
        tables = comb(bots, SEATS)
        seats = schedule(random, bots, -(-blocks // tables))[:blocks]
        points = played(random, seats, equal, noise)
        looks = range(step, blocks + 1, step)
        false += any(
            rule(observed(seats[:look], points[:look], bots), str(cup)).any() for look in looks
        )
    return Count(false, cups)


def watched_halving(
    bots: int, deals: int, noise: Noise, cups: int, rule: Rule = at_any_time
) -> Count:
    """Halvings of equal bots, looked at 13 times, in which some look shows a false range."""
    random = np.random.default_rng(1)
    draw, equal = halving(deals), np.zeros(bots)
    false = 0
    for cup in range(cups):
        data = draw(random, equal, noise)
        seen = data.present[data.table]
        looks = np.linspace(0, data.blocks, 14).astype(int)[1:]
        false += any(
            rule(from_blocks(data.points[:look], seen[:look]), str(cup)).any() for look in looks
        )
    return Count(false, cups)


def missed(draw: Draw, effects: Floats, noise: Noise, cups: int) -> Count:
    """Scores outside their 95 % interval. ``effects`` must sum to 0; noise has mean 0 or is
    equal for all, then the true mean is measured."""
    random = np.random.default_rng(1)
    mean = float(noise(np.random.default_rng(2), 1_000_000).mean())
    true = mean + effects * effects.size / (effects.size - 1)
    false = of = 0
    for _ in range(cups):
        data = draw(random, effects, noise)
        for value, interval in zip(true, score_intervals(data, fit(data)), strict=True):
            if interval.low is not None and interval.high is not None:
                false += not interval.low <= value <= interval.high
                of += 1
    return Count(false, of)


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


_POWER = (
    ("3 bots, 40 blocks", round_robin(40), spaced(3, 1.0), 200),
    ("10 bots, 2 blocks a table", round_robin(2), spaced(10, 2.0), 200),
    ("20 bots, 1 block a table", round_robin(1), spaced(20, 2.0), 50),
)


def sections() -> list[Section]:
    """What is false, what is settled, and what looking at any time costs."""
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
    return [Section("Rank ranges", how, figures, note), _settled(), _rated()]


def _rated() -> Section:
    """What ratings admit that they cannot know."""
    block = np.repeat(np.arange(2), SEATS)
    turns = np.arange(SEATS)
    seats = np.tile((turns[:, np.newaxis] + turns) % SEATS, (2, 1))
    sides = np.broadcast_to(turns, seats.shape)
    alike = compare(seats, np.zeros_like(seats), sides, block, SEATS)
    width = 0.0
    for rating in ratings(alike, [2] * SEATS, ""):
        if rating.interval.low is None or rating.interval.high is None:
            raise RuntimeError("A rating after two blocks has an interval.")
        width = max(width, rating.interval.high - rating.interval.low)
    apart = compare(
        np.concatenate([seats, seats + SEATS]),
        np.concatenate([seats, seats]),
        np.concatenate([sides, sides]),
        np.concatenate([block, block + 2]),
        2 * SEATS,
    )
    groups = int(rating_groups(apart).max()) + 1
    figures = [
        Figure("identical bots, two blocks: interval", width, "percentiles", 0.0, "points", 1.0),
        Figure("groups found of two that never met", groups, "truth", 2, "groups", groups / 2, 1.0),
    ]
    how = (
        "Ratings of three identical bots after two blocks: the width of the interval, where plain"
        " percentiles of a bootstrap say that nothing is open (0). Ratings are shown only where all"
        " bots are in one group."
    )
    return Section("Ratings", how, figures)


def _settled() -> Section:
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
    return Section("What rank ranges settle", how, figures)


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
