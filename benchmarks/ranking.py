"""How often rank ranges claim too much: `python -m benchmarks.ranking --cups 1000 [--row NAME]`.

Simulated cups with known strengths. A claim is false where it contradicts the true order; of
equal bots any claim is false. The table is for docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import comb

import numpy as np

from tournament.formats.knockout import plan
from tournament.formats.swiss import pair
from tournament.ranking import adaptive, anytime
from tournament.ranking.bootstrap import Floats, Ints
from tournament.ranking.effects import Fit, fit
from tournament.ranking.observations import Observations, from_blocks
from tournament.ranking.rank_ranges import Settled, settled_pairs
from tournament.ranking.score_intervals import score_intervals

SEATS = 3

Noise = Callable[[np.random.Generator, int], Floats]
"""Points (B, 3) of equal bots at B blocks."""
Draw = Callable[[np.random.Generator, Floats, Noise], Observations]
"""A cup of bots with given effects (n)."""


def normal(random: np.random.Generator, blocks: int) -> Floats:
    """Normal points."""
    return random.normal(size=(blocks, SEATS))


def heavy(random: np.random.Generator, blocks: int) -> Floats:
    """Student's t with three degrees of freedom, zero sum."""
    points = random.standard_t(3, (blocks, SEATS))
    answer: Floats = points - points.mean(axis=1, keepdims=True)
    return answer


def skewed(random: np.random.Generator, blocks: int) -> Floats:
    """Never negative, mostly small; the sum is not fixed."""
    return random.exponential(size=(blocks, SEATS)) ** 1.5


def two_valued(random: np.random.Generator, blocks: int) -> Floats:
    """One winner takes a point from each of the others."""
    winner = random.integers(0, SEATS, blocks)
    return np.where(winner[:, np.newaxis] == np.arange(SEATS), 2.0, -1.0)


def doubled(random: np.random.Generator, blocks: int) -> Floats:
    """Like Dou Dizhu: who is alone wins or loses twice a stake that doubles; three seatings."""
    points = np.zeros((blocks, SEATS))
    strong = random.integers(0, SEATS, blocks)
    chance = random.beta(2, 2, blocks)
    for turn in range(SEATS):
        stake = random.integers(1, 4, blocks) * 2.0 ** np.minimum(random.geometric(0.6, blocks), 5)
        won = np.where(random.random(blocks) < chance, 1.0, -1.0) * stake
        alone = (strong[:, np.newaxis] - turn) % SEATS == np.arange(SEATS)
        points += won[:, np.newaxis] * np.where(alone, 2.0, -1.0)
    return points / SEATS


NOISES: dict[str, Noise] = {
    "normal": normal,
    "t3": heavy,
    "skewed": skewed,
    "two-valued": two_valued,
    "doubled": doubled,
}


def played(random: np.random.Generator, seats: Ints, effects: Floats, noise: Noise) -> Floats:
    """Points (B, 3) of the bots in ``seats`` (B, 3)."""
    a = effects[seats]
    own = a - (a.sum(axis=1, keepdims=True) - a) / (SEATS - 1)
    answer: Floats = own + noise(random, len(seats))
    return answer


def observed(seats: Ints, points: Floats, bots: int) -> Observations:
    """Observations of these blocks, one deal each."""
    wide = np.zeros((len(seats), bots))
    np.put_along_axis(wide, seats, points, axis=1)
    present = np.zeros((len(seats), bots), bool)
    np.put_along_axis(present, seats, True, axis=1)
    return from_blocks(wide, present)


def round_robin(deals: int) -> Draw:
    """All tables, ``deals`` blocks each, in a drawn order."""

    def draw(random: np.random.Generator, effects: Floats, noise: Noise) -> Observations:
        seats = schedule(random, effects.size, deals)
        return observed(seats, played(random, seats, effects, noise), effects.size)

    return draw


def schedule(random: np.random.Generator, bots: int, deals: int) -> Ints:
    """The tables of a round-robin, block by block."""
    tables = np.array(list(combinations(range(bots), SEATS)))
    tables = tables[random.permutation(len(tables))]
    return np.tile(tables, (deals, 1))


def gauntlet(deals: int) -> Draw:
    """Bot 0 at all tables of the rest."""

    def draw(random: np.random.Generator, effects: Floats, noise: Noise) -> Observations:
        rest = list(combinations(range(1, effects.size), SEATS - 1))
        seats = np.tile(np.array([(0, *others) for others in rest]), (deals, 1))
        return observed(seats, played(random, seats, effects, noise), effects.size)

    return draw


def knockout(deals: int) -> Draw:
    """The better part of each table goes on."""

    def draw(random: np.random.Generator, effects: Floats, noise: Noise) -> Observations:
        left = list(random.permutation(effects.size))
        seats, points = [], []
        for cut in plan(effects.size, SEATS):
            playing = left[len(left) - cut.tables * SEATS :]
            for number, advancing in enumerate(cut.advancing):
                table = playing[number :: cut.tables]
                here = np.tile(np.array(table), (deals, 1))
                some = played(random, here, effects, noise)
                seats.append(here)
                points.append(some)
                ranked = np.argsort(-some.sum(axis=0), kind="stable")
                left = [bot for bot in left if bot not in {table[i] for i in ranked[advancing:]}]
        here = np.tile(np.array(left), (deals, 1))
        seats.append(here)
        points.append(played(random, here, effects, noise))
        return observed(np.concatenate(seats), np.concatenate(points), effects.size)

    return draw


class _Met:
    """Who met whom and who sat out, as Swiss pairing wants to know it."""

    def __init__(self, names: list[str]) -> None:
        self.names, self.rounds = names, 0
        self.met: Counter[frozenset[str]] = Counter()
        self.played: Counter[str] = Counter()

    def byes(self, name: str) -> int:
        """How often a bot sat out."""
        return self.rounds - self.played[name]


def swiss(rounds: int, deals: int) -> Draw:
    """Bots of similar standing together."""

    def draw(random: np.random.Generator, effects: Floats, noise: Noise) -> Observations:
        size = effects.size
        history = _Met([str(bot) for bot in range(size)])
        totals, counts = np.zeros(size), np.zeros(size)
        seats, points = [], []
        for _ in range(rounds):
            mean = totals / np.maximum(counts, 1)
            ranked = sorted(random.permutation(size), key=lambda bot: -mean[bot])
            names = [str(bot) for bot in ranked]
            # The history has what `pair` reads of Swiss' own.
            tables = pair(names, SEATS, size // SEATS, history)  # type: ignore[arg-type]
            for table in tables:
                here = np.tile(np.array([int(name) for name in table]), (deals, 1))
                some = played(random, here, effects, noise)
                seats.append(here)
                points.append(some)
                totals[here[0]] += some.mean(axis=0)
                counts[here[0]] += 1
                history.met.update(frozenset(two) for two in combinations(table, 2))
                history.played.update(table)
            history.rounds += 1
        return observed(np.concatenate(seats), np.concatenate(points), size)

    return draw


@dataclass(frozen=True)
class Count:
    """How often something was false, of how many."""

    false: int
    of: int


def contradicted(settled: Settled, effects: Floats) -> bool:
    """Whether a claimed order is not the true one; none is true of equal bots."""
    return bool((settled & ~(effects[:, np.newaxis] > effects)).any())


def paired_by_results(draw: Draw, effects: Floats, noise: Noise, cups: int) -> Count:
    """Cups of a format that pairs by results, in which some range is false at the end."""
    random = np.random.default_rng(1)
    found = (adaptive.settled_pairs(fit(draw(random, effects, noise))) for _ in range(cups))
    return Count(sum(contradicted(settled, effects) for settled in found), cups)


def fixed(draw: Draw, effects: Floats, noise: Noise, cups: int) -> Count:
    """Cups in which some rank range is false, looked at once at the end."""
    random = np.random.default_rng(1)
    false = 0
    for cup in range(cups):
        found = fit(draw(random, effects, noise))
        false += contradicted(settled_pairs(found, str(cup)), effects)
    return Count(false, cups)


def watched(bots: int, blocks: int, step: int, noise: Noise, cups: int) -> Count:
    """Round-robins of equal bots, looked at after every ``step`` blocks, in which some look
    shows a false range."""
    random = np.random.default_rng(1)
    equal = np.zeros(bots)
    false = 0
    for _ in range(cups):
        tables = comb(bots, SEATS)
        seats = schedule(random, bots, -(-blocks // tables))[:blocks]
        points = played(random, seats, equal, noise)
        looks = range(step, blocks + 1, step)
        false += any(
            anytime.settled_pairs(fit(observed(seats[:look], points[:look], bots))).any()
            for look in looks
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
        ever.append(_first(seats, points, step, anytime.settled_pairs))
    for blocks in range(step, 3000, step):
        shown = 0
        for _ in range(cups):
            seats = schedule(random, SEATS, blocks)
            data = observed(seats, played(random, seats, effects, normal), SEATS)
            shown += bool(settled_pairs(fit(data), "needed")[0, 1])
        once.append(blocks)
        if 2 * shown >= cups:
            break
    return float(once[-1]), float(np.median(ever))


def _first(seats: Ints, points: Floats, step: int, settle: Callable[[Fit], Settled]) -> int:
    for look in range(step, len(seats) + 1, step):
        if settle(fit(observed(seats[:look], points[:look], SEATS)))[0, 1]:
            return look
    return len(seats)


def spaced(bots: int, width: float) -> Floats:
    """Effects that fall evenly from width / 2 to -width / 2."""
    return np.linspace(width / 2, -width / 2, bots)


def strong(bots: int) -> Floats:
    """A strong half and a weak half, equal inside."""
    return np.where(np.arange(bots) < bots // 2, 0.5, -0.5)


Row = Callable[[Noise, int], Count]


def rows() -> Iterator[tuple[str, float, Row]]:
    """Name, aim in 100, and what counts."""

    for bots, deals in ((3, 3), (3, 8), (3, 20), (3, 100), (4, 1), (4, 3), (4, 10), (10, 1)):
        yield f"equal-{bots}x{deals}", 6, partial(fixed, round_robin(deals), np.zeros(bots))
    for bots, deals in ((10, 2), (10, 5), (20, 1), (30, 1), (40, 1)):
        yield f"equal-{bots}x{deals}", 6, partial(fixed, round_robin(deals), np.zeros(bots))
    yield "halves-10x2", 6, partial(fixed, round_robin(2), strong(10))
    formats = {
        "gauntlet-12x1": (gauntlet(1), 12),
        "gauntlet-12x5": (gauntlet(5), 12),
        "knockout-12x10": (knockout(10), 12),
        "knockout-12x40": (knockout(40), 12),
        "knockout-30x10": (knockout(10), 30),
        "knockout-30x40": (knockout(40), 30),
    }
    by_results = {
        "swiss-12x5x1": (swiss(5, 1), 12),
        "swiss-12x5x10": (swiss(5, 10), 12),
        "swiss-30x6x5": (swiss(6, 5), 30),
        "swiss-30x6x20": (swiss(6, 20), 30),
        "swiss-40x6x40": (swiss(6, 40), 40),
    }
    for name, (draw, bots) in formats.items():
        yield f"{name} equal", 6, partial(fixed, draw, np.zeros(bots))
        yield f"{name} halves", 6, partial(fixed, draw, strong(bots))
        yield f"{name} spaced", 6, partial(fixed, draw, spaced(bots, 2.0))
    for name, (draw, bots) in by_results.items():
        yield f"{name} equal", 6, partial(paired_by_results, draw, np.zeros(bots))
        yield f"{name} halves", 6, partial(paired_by_results, draw, strong(bots))
    for bots, blocks, step in ((3, 200, 5), (3, 1000, 5), (10, 1200, 30)):
        yield f"watched-{bots}-{blocks}", 6, partial(watched, bots, blocks, step)
    for name, draw, effects in (
        ("3x5", round_robin(5), np.zeros(3)),
        ("3x20", round_robin(20), np.zeros(3)),
        ("10x1", round_robin(1), strong(10)),
        ("gauntlet-12x2", gauntlet(2), strong(12)),
    ):
        yield f"score-{name}", 8, partial(missed, draw, effects)


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cups", type=int, default=200)
    parser.add_argument("--row", default="", help="rows whose name contains this")
    asked = parser.parse_args()
    print("| false, in 100 | cups | aim | " + " | ".join(NOISES) + " |")
    print("| --- | ---: | ---: |" + " ---: |" * len(NOISES))
    for name, aim, row in rows():
        if asked.row in name:
            found = [row(noise, asked.cups) for noise in NOISES.values()]
            cells = " | ".join(f"{100 * count.false / max(1, count.of):.1f}" for count in found)
            print(f"| {name} | {asked.cups} | ≤ {aim:g} | {cells} |", flush=True)
    if asked.row in "blocks-needed":
        print("\nMedian blocks to settle two bots, by effect in standard deviations:\n")
        print("| effect | looking once | anytime |\n| ---: | ---: | ---: |")
        for effect in (0.3, 0.5, 1.0):
            once, ever = blocks_needed(effect, asked.cups)
            print(f"| {effect} | {once:.0f} | {ever:.0f} |", flush=True)


if __name__ == "__main__":
    main()
