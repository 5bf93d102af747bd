"""Simulated ladders: how often a look shows a false order of bots, and how much is settled."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any

import numpy as np

from tools.simulation import simulated_cups as cups_of
from tools.simulation.claims import Claims
from tools.simulation.simulated_cups import NOISES, SEATS, Play, normal, simulated, spaced
from tournament.formats.ladder import KnownBots, draw_tables
from tournament.ranking.arrays import Booleans, Floats, Ints
from tournament.ranking.effects import fit
from tournament.ranking.ladder import LadderRecord
from tournament.ranking.observations import renumbered

BOTS, BLOCKS = 35, 2_000
"""The size of a ladder whose bots come and go."""
BEGIN = 12
"""The bots that play from the beginning. The others join one by one in the first half."""
STAY = 18
"""The largest number of bots that play at a time. Beyond it, the first bots leave."""
FEW, LONG = 30, 12_000
"""The bots and the blocks of a ladder in which all bots play all the time."""
GAP = 0.09
"""The distance between neighbours, in standard deviations, in ladders that settle the top 3."""

Absent = Callable[[Ints], Booleans]
"""The tables (B) with these seats (B, 3) that are not played because a bot is away."""


@dataclass
class Ladder:
    """A ladder of numbered bots, which is played epoch by epoch."""

    bots: int
    play: Play
    random: np.random.Generator
    seed: str
    known: KnownBots = field(default_factory=KnownBots)
    seats: list[Ints] = field(default_factory=list)
    points: list[Floats] = field(default_factory=list)
    epochs: int = 0

    def __post_init__(self) -> None:
        self.known.numbers(map(_name, range(self.bots)))

    @property
    def record(self) -> LadderRecord:
        """The ladder's record of its bots."""
        return self.known.record

    @property
    def blocks(self) -> int:
        """The number of blocks played so far."""
        return sum(map(len, self.seats))

    def run(self, playing: Iterable[int], absent: Absent | None = None) -> None:
        """Play an epoch of these bots, without the tables that are ``absent``."""
        self.epochs += 1
        names = [_name(bot) for bot in playing]
        tables = draw_tables(self.seed, self.epochs, names, SEATS, self.known)
        seats = np.array([[int(name) for name in table] for _, table in tables])
        played = np.ones(len(seats), bool) if absent is None else ~absent(seats)
        stages = [stage for (stage, _), counts in zip(tables, played, strict=True) if counts]
        seats = seats[played]
        points = self.play(self.random, seats)
        self.known.add(
            (stage, dict(zip(map(_name, table), scores, strict=True)))
            for stage, table, scores in zip(stages, seats.tolist(), points.tolist(), strict=True)
        )
        self.seats.append(seats)
        self.points.append(points)

    @property
    def score(self) -> Floats:
        """The scores (n) that decide the places, as the table fits them."""
        data = cups_of.observed(np.concatenate(self.seats), np.concatenate(self.points), self.bots)
        record = self.record
        versions = renumbered(data, record.versions(), 1 + int(record.version.max()))
        return fit(versions).of(record.version).score


def _name(bot: int) -> str:
    return f"{bot:03d}"


Playing = Callable[[Ladder], Iterable[int]]
"""The bots that play the next epoch of a ladder."""


@dataclass(frozen=True)
class Case:
    """A kind of ladder.

    After a number of blocks, ``play`` returns the points, and ``true`` which bots (rows) are better
    than which other bots (columns). ``playing`` returns the bots of the next epoch.
    """

    bots: int
    play: Callable[[int], Play]
    true: Callable[[int], Booleans]
    playing: Playing
    absent: Absent | None = None
    blocks: int = BLOCKS


def season(case: Case, number: int) -> Iterator[tuple[Ladder, Booleans]]:
    """Play a ladder. Yield it after every epoch, with the settled pairs (rows above columns)."""
    random = np.random.default_rng(number)
    ladder = Ladder(case.bots, case.play(0), random, f"season {number}")
    while ladder.blocks < case.blocks:
        ladder.play = case.play(ladder.blocks)
        ladder.run(case.playing(ladder), case.absent)
        yield ladder, ladder.record.settled()


def seasons(cases: Iterable[Case], cups: int, first: int = 0) -> Claims:
    """Play ``cups`` ladders of these kinds in turn, and count those that were false at some look.

    The ladders are numbered from ``first``, and the numbers are their seeds.
    """
    false, right, wrong, alarms = 0, 0.0, 0, 0
    for number, case in enumerate(islice(cycle(cases), cups), first):
        falsely, last = 0, 0
        for ladder, settled in season(case, number):
            true = case.true(ladder.blocks)
            if (settled & ~true).any():
                falsely += ladder.blocks - last
            last = ladder.blocks
        false += falsely > 0
        wrong += falsely
        right += (settled & true).sum() / max(1, true.sum())
        alarms += int(ladder.record.changed.sum())
    return Claims(cups, false, float(right / cups), alarms, wrong / cups)


def above(effects: Floats) -> Booleans:
    """Which bots (rows) are better than which other bots (columns)."""
    return effects[:, np.newaxis] > effects


def steady(effects: Floats, play: Play, playing: Playing | None = None, **about: Any) -> Case:
    """Bots that do not change. By default they come and go."""
    true = above(effects)
    playing = playing or come_and_go(effects.size)
    return Case(effects.size, lambda _: play, lambda _: true, playing, **about)


def lasting(effects: Floats, play: Play, absent: Absent | None = None) -> Case:
    """Bots that do not change and all play all the time, in a long ladder."""
    return steady(effects, play, everybody, absent=absent, blocks=LONG)


def come_and_go(bots: int) -> Callable[[Ladder], range]:
    """Bots join in the order of their numbers. Beyond ``STAY`` bots, the first ones leave."""

    def playing(ladder: Ladder) -> range:
        come = min(bots, BEGIN + (bots - BEGIN) * 2 * ladder.blocks // BLOCKS)
        return range(max(0, come - STAY), come)

    return playing


def everybody(ladder: Ladder) -> range:
    """All bots play all the time."""
    return range(ladder.bots)


def leaving(side: int) -> Callable[[Ladder], list[int]]:
    """Bots clearly ahead (1) or behind (-1) after 40 blocks leave, unless too few would be left."""

    def playing(ladder: Ladder) -> list[int]:
        mean, deviation = ladder.record.effects()
        gone = (side * mean > 1.5 * deviation) & (ladder.record.blocks >= 40)
        left = np.flatnonzero(~gone).tolist()
        return left if len(left) >= 2 * SEATS else list(range(ladder.bots))

    return playing


def away(effects: Floats) -> Case:
    """Two bots are away whenever a stronger opponent is drawn."""
    skips = np.isin(np.argsort(np.argsort(-effects)), (effects.size // 6, effects.size // 2))

    def absent(seats: Ints) -> Booleans:
        best = effects[seats].max(axis=1, keepdims=True)
        answer: Booleans = (skips[seats] & (effects[seats] < best)).any(axis=1)
        return answer

    return lasting(effects, simulated(effects, normal), absent)


def changing(effects: Floats, after: Callable[[int], float]) -> Case:
    """After any number of blocks, the effect of the first bot has changed by ``after(blocks)``."""

    def now(blocks: int) -> Floats:
        return np.append(effects[0] + after(blocks), effects[1:])

    return Case(
        effects.size,
        lambda blocks: simulated(now(blocks), normal),
        lambda blocks: above(now(blocks)),
        everybody,
        blocks=LONG,
    )


def jump(effects: Floats, late: bool = False) -> Case:
    """A middling bot becomes the best after 1,000 blocks.

    If ``late``, the best bot becomes one of the worst after 4,000 blocks instead, when most pairs
    are settled.
    """
    effects = np.sort(effects)[::-1]
    if late:
        return changing(effects, lambda blocks: -1.5 * (blocks > 4_000))
    effects = np.roll(effects, effects.size // 2)
    return changing(effects, lambda blocks: 1.5 * (blocks > 1_000))


def learning(effects: Floats) -> Case:
    """The worst bot becomes the best within half of the ladder."""
    effects = np.sort(effects)
    return changing(effects, lambda blocks: min(4 * blocks / LONG, 2.0))


def rare_losses(bots: int, every: int = 100) -> Case:
    """Equal bots, a third of which win 0.3 in most blocks and lose heavily in one of ``every``."""

    def play(random: np.random.Generator, seats: Ints) -> Floats:
        lost = np.where(random.random(seats.shape) < 1 / every, 0.3 - 0.3 * every, 0.3)
        points = np.where(seats % 3 == 0, lost, 0.0)
        points += random.normal(size=seats.shape)
        return points

    return lasting(np.zeros(bots), play)


def circle(effects: Floats) -> Case:
    """Bots of three styles, which beat each other in a circle by 0.3 of a typical difference."""
    bots = effects.size
    style = np.arange(bots) % 3
    typical = np.abs(np.subtract.outer(effects, effects)).sum() / (bots * (bots - 1))
    beats = 0.3 * typical * np.array([0.0, 1.0, -1.0])

    def play(random: np.random.Generator, seats: Ints) -> Floats:
        points = simulated(effects, normal)(random, seats)
        for other in range(1, SEATS):
            opponents = np.roll(seats, other, axis=1)
            points += beats[(style[seats] - style[opponents]) % 3] / (SEATS - 1)
        return points

    against = beats[np.subtract.outer(style, style) % 3]
    return lasting(effects + against.sum(axis=1) / bots, play)


def soft(bots: int, gift: float = 0.4) -> Case:
    """Equal bots. Whenever the first two meet, one gives the other ``gift`` standard deviations."""

    def play(random: np.random.Generator, seats: Ints) -> Floats:
        points = random.normal(size=seats.shape)
        met = ((seats == 0).any(axis=1) & (seats == 1).any(axis=1))[:, np.newaxis]
        points += gift * met * ((seats == 1) * 1.0 - (seats == 0))
        return points

    effects = np.zeros(bots)
    effects[:2] = -1.0, 1.0
    return lasting(effects, play)


def settling(bots: int, number: int, most: int = 400_000) -> int:
    """The number of blocks after which the order of the top 3 is settled, at most ``most``."""
    effects = np.random.default_rng(number).permutation(spaced(bots, GAP * (bots - 1)))
    first, second, third, *rest = np.argsort(-effects).tolist()
    play = simulated(effects, normal)
    case = steady(effects, play, everybody, blocks=most)
    for ladder, settled in season(case, number):
        if settled[first, second] and settled[second, third] and settled[third, rest].all():
            return ladder.blocks
    return most


def rows() -> Iterator[tuple[str, list[Case]]]:
    """Yield ladders whose bots do not change and are not away by choice, with a name for each."""
    order = np.random.default_rng(2).permutation(BOTS)
    late = np.where(np.arange(BOTS) == BOTS - 1, 1.5, 0.0)
    for name, effects in (
        ("equal bots", np.zeros(BOTS)),
        ("two classes", cups_of.strong(BOTS)[order]),
        ("evenly spaced", spaced(BOTS, 2.0)[order]),
        ("equal bots, a strong one comes last", late),
    ):
        yield name, [steady(effects, simulated(effects, noise)) for noise in NOISES.values()]
    kinds = order % 3
    yield "real points", [steady(-kinds.astype(np.float64), cups_of.real(kinds))]
    equal = np.zeros(FEW)
    play = simulated(equal, normal)
    yield "equal bots that leave when ahead", [steady(equal, play, leaving(1))]
    yield "equal bots that leave when behind", [steady(equal, play, leaving(-1))]
    yield "one bot gives another 0.4 of a standard deviation", [soft(FEW)]
