"""Soft play: do two bots beat each other's plays less often than the plays of others?

Every time a bot could legally beat another's play, it beat it or passed. How likely it is to beat
a play like that, with a hand like that, is fitted over the whole cup (logistic regression). What
a bot did beyond that against one opponent, less what it did beyond that against the others, is
its leniency towards this opponent. Blocks are the unit of the tests, Holm's method corrects for
the number of ordered pairs. Partners of a deal are not compared.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np

import games
from games import State
from games.move import PASS, Move
from tournament.ranking.arrays import Booleans, Floats, Ints
from tournament.ranking.student import student_tail
from tournament.records import MatchRecord

LEVEL = 0.05
LEAST = 0.05
"""The smallest difference of two rates that is reported as suspicious: 5 percentage points."""
SHOWN = 10
"""How many matches of a flagged pair are named."""


@dataclass(frozen=True, slots=True)
class Chance:
    """A bot's chance to beat another's play, and whether it took it.

    `features` describe the position in numbers, the same ones in the same order for every chance
    of one game; `category` is that of the play to beat.
    """

    block: int
    match: str
    bot: str
    opponent: str
    category: str
    features: tuple[float, ...]
    beaten: bool


@dataclass(frozen=True, slots=True)
class Leniency:
    """How much more rarely `bot` beats `opponent` than others in positions alike.

    `difference` is a difference of rates (0.1: ten percentage points more rarely than others),
    None where there is nothing to compare; `p` is Holm's, one-sided, over all ordered pairs.
    """

    bot: str
    opponent: str
    chances: int
    rate: float
    difference: float | None
    p: float


@dataclass(frozen=True, slots=True)
class Flag:
    """Two bots that go easy on each other, and the matches in which they do so most."""

    bots: tuple[str, str]
    same_author: bool
    matches: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Integrity:
    """What was found in a run. A flag is a question, not a verdict."""

    chances: int
    blocks: int
    pairs: tuple[Leniency, ...]
    flags: tuple[Flag, ...]

    def most_lenient(self, most: int) -> list[Leniency]:
        """The first ordered pairs by p, then by difference."""
        return sorted(self.pairs, key=lambda pair: (pair.p, -(pair.difference or 0.0)))[:most]

    def to_dict(self) -> dict[str, object]:
        """Ready for JSON."""
        return asdict(self)


def integrity(
    records: Iterable[MatchRecord], authors: Mapping[str, str | None] | None = None
) -> Integrity:
    """Look for soft play in finished matches, in any order; `authors` are by bot, if known."""
    found = sorted(
        (chance for record in records for chance in chances(record)),
        key=lambda chance: (chance.block, chance.match),
    )
    if not found:
        return Integrity(0, 0, (), ())
    bots = sorted({name for chance in found for name in (chance.bot, chance.opponent)})
    number = {bot: index for index, bot in enumerate(bots)}
    bot = np.array([number[chance.bot] for chance in found])
    opponent = np.array([number[chance.opponent] for chance in found])
    block = np.unique([chance.block for chance in found], return_inverse=True)[1]
    beaten = np.array([chance.beaten for chance in found], dtype=float)
    unexpected = beaten - _expected(found, bot, beaten, len(bots))
    pairs = _leniencies(bots, bot, opponent, block, beaten, unexpected)
    lenient = {
        (pair.bot, pair.opponent)
        for pair in pairs
        if pair.difference is not None and pair.difference >= LEAST and pair.p <= LEVEL
    }
    known = authors or {}
    flags = tuple(
        Flag(
            two,
            known.get(two[0]) is not None and known.get(two[0]) == known.get(two[1]),
            _matches(found, unexpected, two),
        )
        for two in combinations(bots, 2)
        if two in lenient and two[::-1] in lenient
    )
    return Integrity(len(found), int(block.max()) + 1, tuple(pairs), flags)


def chances(record: MatchRecord) -> Iterator[Chance]:
    """Every chance of a bot to beat another's play in a match that is played again."""
    state: State = games.get(record.game).start(record.players, record.seed, record.options)
    default_moves = {fault.move for fault in record.faults}
    deal: list[tuple[int, int, Chance]] = []
    for index, text in enumerate(record.moves):
        seat, to_beat = state.turn, state.to_beat
        if seat is None:
            return
        if to_beat is not None and index not in default_moves and seat not in record.struck:
            leader = to_beat[0]
            answers = len(state.moves()) - 1
            if answers and record.seating[leader] != record.seating[seat]:
                deal.append((seat, leader, _chance(record, state, seat, to_beat, answers, text)))
        before = len(state.results)
        state = state.advance(text)
        if len(state.results) > before:
            teams = state.game.sides(state.results[-1], record.players)
            for mover, leader, chance in deal:
                if teams is None or teams[mover] != teams[leader]:
                    yield chance
            deal = []


def _chance(
    record: MatchRecord, state: State, seat: int, to_beat: tuple[int, Move], answers: int, move: str
) -> Chance:
    leader, play = to_beat
    counts = state.view(seat).counts
    own, theirs = counts[seat], counts[leader]
    features = (
        np.log1p(own),
        np.log1p(theirs),
        float(theirs <= 2),
        float(min(counts) <= 2),
        np.log1p(answers),
        float(play.level),
        float(play.level) ** 2 / 10,
        float(play.length or 1),
        float((leader + 1) % record.players == seat),
    )
    return Chance(
        record.block,
        record.match,
        record.seating[seat],
        record.seating[leader],
        str(play.category),
        features,
        move != PASS,
    )


def _expected(found: Sequence[Chance], bot: Ints, beaten: Floats, bots: int) -> Floats:
    """How likely each chance was to be taken: logistic regression on bot and position."""
    names = sorted({chance.category for chance in found})
    category = np.array([names.index(chance.category) for chance in found])
    position = np.array([chance.features for chance in found])
    position = (position - position.mean(axis=0)) / np.maximum(position.std(axis=0), 1e-9)
    design = np.hstack((np.eye(bots)[bot], np.eye(len(names))[category], position))
    weights = np.zeros(design.shape[1])
    ridge = np.eye(len(weights))  # a bot that always passes has no finite maximum
    for _ in range(50):
        chance = _logistic(design @ weights)
        slope = design.T @ (beaten - chance) - weights
        curve = (design * (chance * (1 - chance))[:, np.newaxis]).T @ design + ridge
        step = np.linalg.solve(curve, slope)
        weights += step
        if np.abs(step).max() < 1e-8:
            break
    return _logistic(design @ weights)


def _logistic(odds: Floats) -> Floats:
    """The chance with these logarithms of odds."""
    answer: Floats = np.exp(-np.logaddexp(0.0, -odds))
    return answer


def _leniencies(
    bots: Sequence[str],
    bot: Ints,
    opponent: Ints,
    block: Ints,
    beaten: Floats,
    unexpected: Floats,
) -> list[Leniency]:
    """Every ordered pair that met, with Holm's p."""
    raw: list[tuple[str, str, int, float, float | None, float]] = []
    for i, name in enumerate(bots):
        mine = np.flatnonzero(bot == i)
        for j in np.unique(opponent[mine]):
            against = opponent[mine] == j
            rate = float(beaten[mine][against].mean())
            difference, p = _difference(unexpected[mine], against, block[mine])
            raw.append((name, bots[j], int(against.sum()), rate, difference, p))
    chance = np.array([row[5] for row in raw])
    order = np.argsort(chance, kind="stable")
    corrected = np.empty(len(raw))
    corrected[order] = np.maximum.accumulate(
        np.minimum(1.0, chance[order] * np.arange(len(raw), 0, -1))
    )
    return [Leniency(*row[:5], p) for row, p in zip(raw, corrected.tolist(), strict=True)]


def _difference(unexpected: Floats, against: Booleans, block: Ints) -> tuple[float | None, float]:
    """The leniency towards one opponent and its one-sided p, from sums over blocks."""
    inside, outside = int(against.sum()), int((~against).sum())
    blocks = np.unique(block[against]).size
    if not outside or blocks < 3:
        return None, 1.0
    mean_in, mean_out = unexpected[against].mean(), unexpected[~against].mean()
    influence = np.where(
        against, (unexpected - mean_in) / inside, -(unexpected - mean_out) / outside
    )
    by_block = np.bincount(block, weights=influence)
    error = float(np.sqrt((by_block**2).sum() * blocks / (blocks - 1)))
    difference = float(mean_out - mean_in)
    if error == 0:
        return difference, 1.0
    return difference, student_tail(blocks - 1, difference / error)


def _matches(found: Sequence[Chance], unexpected: Floats, two: tuple[str, str]) -> tuple[str, ...]:
    """The matches in which two bots let most of each other's plays pass that others beat."""
    spared: dict[str, float] = {}
    for chance, more in zip(found, unexpected, strict=True):
        if (chance.bot, chance.opponent) in (two, two[::-1]):
            spared[chance.match] = spared.get(chance.match, 0.0) - float(more)
    most = sorted(spared, key=lambda match: (-spared[match], match))
    return tuple(match for match in most[:SHOWN] if spared[match] > 0)
