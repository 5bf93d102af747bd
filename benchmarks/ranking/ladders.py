"""Simulated ladders whose bots come and go: how often a range is false at any look, how much is
settled, and how soon a newcomer has its place.

`python -m benchmarks ranking.ladders` prints the section of docs/benchmarks.md.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import cycle, islice

import numpy as np

from benchmarks.figures import Figure, Section
from benchmarks.ranking.claims import Claims
from benchmarks.ranking.simulated_cups import (
    NOISES,
    SEATS,
    Play,
    observed,
    real,
    simulated,
    spaced,
    strong,
)
from tournament.formats.ladder import draw_tables
from tournament.ranking.arrays import Booleans, Floats, Ints
from tournament.ranking.effects import fit
from tournament.ranking.evidence import drawn_evidence
from tournament.ranking.observations import Observations
from tournament.ranking.posterior import Posterior
from tournament.ranking.ranks import settled_by_arrival

BOTS = 35
BEGIN = 12
"""Bots that are there from the beginning; the others come one by one until half of the blocks."""
STAY = 18
"""Bots that play at most; then the first of them leave."""
BLOCKS = 2_000
CUPS = 100


@dataclass
class Ladder:
    """A ladder of numbered bots, epoch by epoch."""

    bots: int
    play: Play
    random: np.random.Generator
    seed: str
    known: Posterior = field(default_factory=Posterior)
    seats: list[Ints] = field(default_factory=list)
    points: list[Floats] = field(default_factory=list)
    draws: list[int] = field(default_factory=list)
    epochs: int = 0

    def run(self, playing: Iterable[int]) -> None:
        """Play an epoch of these bots."""
        self.epochs += 1
        names = [f"{bot:03d}" for bot in playing]
        tables = draw_tables(self.seed, self.epochs, names, SEATS, self.known)
        seats = np.array([[int(name) for name in table] for _, table in tables])
        numbers = {stage: 1000 * self.epochs + i for i, (stage, _) in enumerate(tables)}
        self.add(seats, [numbers[stage] for stage, _ in tables])

    def add(self, seats: Ints, draws: Iterable[int]) -> None:
        """Play these tables (B, 3), each of a draw."""
        points = self.play(self.random, seats)
        for table, scores in zip(seats.tolist(), points.tolist(), strict=True):
            names = [f"{bot:03d}" for bot in table]
            self.known.add(dict(zip(names, scores, strict=True)))
        self.seats += list(seats)
        self.points += list(points)
        self.draws += draws

    @property
    def data(self) -> Observations:
        """All blocks."""
        seats, points = np.array(self.seats), np.array(self.points)
        return observed(seats, points, self.bots, np.array(self.draws))


def playing(bots: int, blocks: int, of: int) -> range:
    """The bots that play after so many ``blocks`` ``of`` all. They are numbered by arrival."""
    come = min(bots, BEGIN + (bots - BEGIN) * 2 * blocks // of)
    return range(max(0, come - STAY), come)


def season(
    random: np.random.Generator, bots: int, play: Play, seed: str, blocks: int = BLOCKS
) -> Iterator[Booleans]:
    """Who is settled above whom at each look, after every epoch, of bots that come and go."""
    ladder = Ladder(bots, play, random, seed)
    while len(ladder.seats) < blocks:
        ladder.run(playing(bots, len(ladder.seats), blocks))
        yield settled_by_arrival(drawn_evidence(ladder.data), np.arange(1, bots + 1))


def seasons(
    effects: Floats, plays: Iterable[Play], cups: int, blocks: int = BLOCKS, seed: int = 1
) -> Claims:
    """Seasons with these kinds of points in turn: false if some look is, and the share of the true
    pairs that is settled at the end."""
    random = np.random.default_rng(seed)
    true = effects[:, np.newaxis] > effects
    false = right = 0
    for number, play in enumerate(islice(cycle(plays), cups)):
        looks = list(season(random, effects.size, play, f"{seed} {number}", blocks))
        false += any((settled & ~true).any() for settled in looks)
        right += int((looks[-1] & true).sum())
    return Claims(cups, false, right / max(1, cups * int(true.sum())))


def newcomer(cups: int, bots: int = 100, own: int = 40) -> float:
    """Of 100 newcomers among evenly spaced bots with 40 blocks each, how many are at most five
    places from their own after ``own`` blocks."""
    random = np.random.default_rng(1)
    near = 0
    for number in range(cups):
        effects = random.permutation(spaced(bots, 2.0))
        ladder = Ladder(bots, simulated(effects, NOISES["normal"]), random, f"new {number}")
        before = np.concatenate([random.permutation(bots - 1) for _ in range(40)])
        tables = before[: before.size // SEATS * SEATS].reshape(-1, SEATS)
        ladder.add(tables, range(len(tables)))
        while ladder.known.blocks[f"{bots - 1:03d}"] < own:
            ladder.run(range(bots))
        score = fit(ladder.data).score
        place, true = (int((each > each[-1]).sum()) for each in (score, effects))
        near += abs(place - true) <= 5
    return 100 * near / cups


def rows() -> Iterator[tuple[str, Floats, list[Play]]]:
    """Kinds of ladders; effects are by arrival."""
    order = np.random.default_rng(2).permutation(BOTS)
    late = np.where(np.arange(BOTS) == BOTS - 1, 1.5, 0.0)
    for name, effects in (
        ("equal bots", np.zeros(BOTS)),
        ("two classes", strong(BOTS)[order]),
        ("evenly spaced", spaced(BOTS, 2.0)[order]),
        ("equal bots, a strong one comes last", late),
    ):
        yield name, effects, [simulated(effects, noise) for noise in NOISES.values()]
    kinds = order % 3
    yield "real points", -kinds.astype(np.float64), [real(kinds)]


def sections(cups: int = CUPS) -> list[Section]:
    """False claims, and what is settled."""
    figures = []
    for name, effects, plays in rows():
        found = seasons(effects, plays, cups)
        right = f", {100 * found.right:.0f} of 100 pairs settled" if effects.any() else ""
        what = f"{name} ({cups} ladders{right})"
        ratio = 5.0 / max(found.percent, 0.5)
        figures.append(Figure(what, found.percent, "limit", 5.0, "false in 100", ratio, 1.0))
    near = newcomer(cups)
    figures.append(
        Figure("a newcomer among 100, 40 blocks", near, "all", 100, "± 5 places", near / 100)
    )
    how = (
        f"Ladders of {BLOCKS:,} blocks, {BOTS} bots of which at most {STAY} play at a time, a look"
        " after every epoch; false if some look puts two bots in a wrong order. Points are in turn"
        " normal, heavy-tailed, skewed, two-valued and doubled, or those of real Dou Dizhu tables."
    )
    return [Section("Ladders", how, figures)]
