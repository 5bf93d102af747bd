"""Simulated cups of bots whose strengths are known: noise, schedules of every format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations

import numpy as np

from tournament.formats import halving as halving_format
from tournament.formats.knockout import plan
from tournament.formats.swiss import pair
from tournament.ranking.arrays import Floats, Ints
from tournament.ranking.effects import scores
from tournament.ranking.observations import Observations, from_blocks

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


def rare_loss(random: np.random.Generator, blocks: int) -> Floats:
    """Equal scores, unlike bots: the first wins 1 in 19 of 20 blocks and loses 19 in the other.

    Not among `NOISES`, in which bots are alike.
    """
    first = np.where(random.random(blocks) < 0.05, -19.0, 1.0)
    rest = random.normal(size=blocks)
    return np.stack([first, -first / 2 + rest, -first / 2 - rest], axis=1)


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
            tables = pair(names, SEATS, size // SEATS, history)
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


def halving(deals: int) -> Draw:
    """Successive halving, as `formats.halving` plans it."""

    def draw(random: np.random.Generator, effects: Floats, noise: Noise) -> Observations:
        return halved(random, effects, noise, deals)[0]

    return draw


def halved(
    random: np.random.Generator, effects: Floats, noise: Noise, deals: int
) -> tuple[Observations, Ints]:
    """A halving, and its last bots, best first."""
    size = effects.size
    left = np.arange(size)
    seats, points = np.zeros((0, SEATS), np.int64), np.zeros((0, SEATS))
    for stage in halving_format.plan(size, SEATS, deals):
        if stage.bots < left.size:
            left = _best(seats, points, left, size)[: stage.bots]
        tables = stage.bots // SEATS
        drawn = [random.permutation(left)[: tables * SEATS] for _ in range(stage.seatings)]
        here = np.concatenate(drawn).reshape(-1, SEATS)
        seats = np.concatenate((seats, here))
        points = np.concatenate((points, played(random, here, effects, noise)))
    return observed(seats, points, size), _best(seats, points, left, size)


def _best(seats: Ints, points: Floats, left: Ints, bots: int) -> Ints:
    score = scores(observed(seats, points, bots))[left]
    answer: Ints = left[np.argsort(-score, kind="stable")]
    return answer


def spaced(bots: int, width: float) -> Floats:
    """Effects that fall evenly from width / 2 to -width / 2."""
    return np.linspace(width / 2, -width / 2, bots)


def strong(bots: int) -> Floats:
    """A strong half and a weak half, equal inside."""
    return np.where(np.arange(bots) < bots // 2, 0.5, -0.5)
