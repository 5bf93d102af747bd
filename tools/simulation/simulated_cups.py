"""Simulated cups of bots whose order is known: points, and schedules of every format."""

from collections import Counter
from collections.abc import Callable
from itertools import combinations

import numpy as np

from tools.simulation.points import draw_points
from tournament.formats import halving as halving_format
from tournament.formats.knockout import cuts
from tournament.formats.swiss import pair
from tournament.ranking.arrays import Booleans, Floats, Ints
from tournament.ranking.effects import fit
from tournament.ranking.observations import Observations, entries

SEATS = 3

Noise = Callable[[np.random.Generator, int], Floats]
"""Points (B, 3) of equal bots at B blocks."""
Play = Callable[[np.random.Generator, Ints], Floats]
"""Points (B, 3) of the bots that sit in ``seats`` (B, 3)."""
Draw = Callable[[np.random.Generator, int, Play], Observations]
"""Play a cup with this number of bots."""


def normal(random: np.random.Generator, blocks: int) -> Floats:
    """Normal points."""
    return random.normal(size=(blocks, SEATS))


def heavy(random: np.random.Generator, blocks: int) -> Floats:
    """Points from Student's t distribution with 3 degrees of freedom. Their sum at a table is 0."""
    points = random.standard_t(3, (blocks, SEATS))
    points -= points.mean(axis=1, keepdims=True)
    return points


def skewed(random: np.random.Generator, blocks: int) -> Floats:
    """Points that are never negative and mostly small. Their sum at a table varies."""
    return random.exponential(size=(blocks, SEATS)) ** 1.5


def two_valued(random: np.random.Generator, blocks: int) -> Floats:
    """A single winner takes a point from each of the other bots."""
    winner = random.integers(0, SEATS, blocks)
    return np.where(winner[:, np.newaxis] == np.arange(SEATS), 2.0, -1.0)


def doubled(random: np.random.Generator, blocks: int) -> Floats:
    """Points as in Dou Dizhu, over three seatings: a lone bot wins or loses double; stakes vary."""
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


def rare_loss(every: int) -> Play:
    """The points of three equal bots, of which bot 0 loses heavily in one of ``every`` blocks."""

    def play(random: np.random.Generator, seats: Ints) -> Floats:
        first = np.where(random.random(len(seats)) < 1 / every, 1.0 - every, 1.0)
        rest = random.normal(size=len(seats))
        points = np.stack([first, -first / 2 + rest, -first / 2 - rest], axis=1)
        return np.take_along_axis(points, seats, axis=1)

    return play


def simulated(effects: Floats, noise: Noise) -> Play:
    """The points of bots whose strengths are single numbers, their effects (n)."""

    def play(random: np.random.Generator, seats: Ints) -> Floats:
        a = effects[seats]
        points: Floats = a - (a.sum(axis=1, keepdims=True) - a) / (SEATS - 1)
        points += noise(random, len(seats))
        return points

    return play


def real(kinds: Ints) -> Play:
    """The points of bots of these kinds (n), drawn from tables that real bots have played."""
    return lambda random, seats: draw_points(random, kinds[seats])


def observed(seats: Ints, points: Floats, bots: int, round: Ints | None = None) -> Observations:
    """The observations of blocks of one deal. ``seats`` and ``points`` have the shape (B, 3)."""
    wide = np.zeros((len(seats), bots))
    np.put_along_axis(wide, seats, points, axis=1)
    present = np.zeros((len(seats), bots), bool)
    np.put_along_axis(present, seats, True, axis=1)
    return from_blocks(wide, present, round)


def from_blocks(points: Floats, present: Booleans, round: Ints | None = None) -> Observations:
    """The observations of blocks of one deal. ``points`` and ``present`` have the shape (B, n)."""
    block, bot = np.nonzero(present)
    rounds = np.zeros(len(points), np.int64) if round is None else round
    return entries(block, bot, points[block, bot], np.ones(block.size), rounds, present.shape[1])


def schedule(random: np.random.Generator, bots: int, deals: int) -> Ints:
    """The tables of a round-robin, block by block, in a random order."""
    tables = np.array(list(combinations(range(bots), SEATS)))
    return np.tile(tables[random.permutation(len(tables))], (deals, 1))


def _planned(seats_of: Callable[[np.random.Generator, int], Ints]) -> Draw:
    """A cup whose tables do not depend on results."""

    def draw(random: np.random.Generator, bots: int, play: Play) -> Observations:
        seats = seats_of(random, bots)
        return observed(seats, play(random, seats), bots)

    return draw


def round_robin(deals: int) -> Draw:
    """All tables, with ``deals`` blocks each."""
    return _planned(lambda random, bots: schedule(random, bots, deals))


def gauntlet(deals: int) -> Draw:
    """Bot 0 at a table with every pair of other bots, for ``deals`` blocks each."""

    def seats(_: np.random.Generator, bots: int) -> Ints:
        rest = combinations(range(1, bots), SEATS - 1)
        return np.tile(np.array([(0, *others) for others in rest]), (deals, 1))

    return _planned(seats)


def _joined(rounds: list[tuple[Ints, Floats]], bots: int) -> Observations:
    number = [np.full(len(seats), index) for index, (seats, _) in enumerate(rounds)]
    seats, points = (np.concatenate(parts) for parts in zip(*rounds, strict=True))
    return observed(seats, points, bots, np.concatenate(number))


def _round(
    random: np.random.Generator, tables: list[list[int]], deals: int, play: Play
) -> tuple[Ints, Floats]:
    """``deals`` blocks of each table, one after the other."""
    seats = np.repeat(np.array(tables), deals, axis=0)
    return seats, play(random, seats)


def knockout(deals: int) -> Draw:
    """A knockout in which the best bots that lost before the final play for bronze."""

    def draw(random: np.random.Generator, bots: int, play: Play) -> Observations:
        left = [int(bot) for bot in random.permutation(bots)]
        beaten: list[int] = []
        rounds = []
        for cut in cuts(bots, SEATS):
            playing = left[len(left) - len(cut) * SEATS :]
            tables = [playing[number :: len(cut)] for number in range(len(cut))]
            rounds.append(_round(random, tables, deals, play))
            totals = rounds[-1][1].reshape(len(cut), deals, SEATS).sum(axis=1)
            here = []
            for table, advancing, total in zip(tables, cut, totals, strict=True):
                ranked = np.argsort(-total, kind="stable")
                here += [(-total[i], table[i]) for i in ranked[advancing:]]
            beaten = [bot for _, bot in sorted(here)] + beaten
            left = [bot for bot in left if bot not in beaten]
        last = [left, beaten[:SEATS]] if bots >= 2 * SEATS else [left]
        rounds.append(_round(random, last, deals, play))
        return _joined(rounds, bots)

    return draw


def swiss(number: int, deals: int) -> Draw:
    """A Swiss cup of ``number`` rounds."""

    def draw(random: np.random.Generator, bots: int, play: Play) -> Observations:
        met: Counter[frozenset[str]] = Counter()
        byes: Counter[str] = Counter()
        totals, counts = np.zeros(bots), np.zeros(bots)
        rounds = []
        for _ in range(number):
            mean = totals / np.maximum(counts, 1)
            ranked = sorted(random.permutation(bots), key=lambda bot: -mean[bot])
            tables = pair([str(bot) for bot in ranked], SEATS, bots // SEATS, met, byes)
            seats = [[int(name) for name in table] for table in tables]
            rounds.append(_round(random, seats, deals, play))
            here = np.array(seats)
            totals[here] += rounds[-1][1].reshape(-1, deals, SEATS).mean(axis=1)
            counts[here] += 1
            for table in tables:
                met.update(frozenset(two) for two in combinations(table, 2))
            byes.update({str(bot) for bot in range(bots)}.difference(*tables))
        return _joined(rounds, bots)

    return draw


def halving(deals: int) -> Draw:
    """A halving with the stages of `tournament.formats.halving`."""
    return lambda random, bots, play: halved(random, bots, play, deals)[0]


def halved(
    random: np.random.Generator, bots: int, play: Play, deals: int
) -> tuple[Observations, Ints]:
    """Play a halving. Return its observations, and the bots of its last stage, best first."""
    left = np.arange(bots)
    rounds: list[tuple[Ints, Floats]] = []
    for stage in halving_format.stages(bots, SEATS, deals):
        if stage.bots < left.size:
            left = _best(_joined(rounds, bots), left)[: stage.bots]
        tables = stage.bots // SEATS
        drawn = [random.permutation(left)[: tables * SEATS] for _ in range(stage.seatings)]
        seats = np.concatenate(drawn).reshape(-1, SEATS)
        rounds.append((seats, play(random, seats)))
    data = _joined(rounds, bots)
    return data, _best(data, left)


def _best(data: Observations, left: Ints) -> Ints:
    answer: Ints = left[np.argsort(-fit(data).score[left], kind="stable")]
    return answer


def spaced(bots: int, width: float) -> Floats:
    """Effects that fall evenly from width / 2 to -width / 2."""
    return np.linspace(width / 2, -width / 2, bots)


def strong(bots: int) -> Floats:
    """The effects of a strong and a weak half of equal bots."""
    return np.where(np.arange(bots) < bots // 2, 0.5, -0.5)
