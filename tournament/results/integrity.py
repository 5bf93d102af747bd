"""Soft play: do two bots beat each other's plays less often than the plays of others?

Whenever a bot could legally beat another's play, it either beat the play or passed. The probability
of beating such a play with such a hand is fitted over the whole cup (logistic regression). A bot's
leniency towards one opponent is how much more rarely than expected it beat that opponent's plays,
compared with the plays of others. The unit of the tests is the block, and Holm's method corrects
for the number of ordered pairs. Partners of a deal are not compared.
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
"""The most matches that are named for a flagged pair."""


@dataclass(frozen=True, slots=True)
class Chance:
    """A bot's chance to beat another's play, and whether the bot took it.

    `features` describe the position in numbers, the same in the same order for every chance in a
    game. `category` is the category of the play to beat.
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
    """How much more rarely `bot` beats the plays of `opponent` than those of others in like
    positions.

    `difference` is a difference of rates: 0.1 means ten percentage points more rarely. It is None
    if there is nothing to compare with. `p` is one-sided, and corrected over all ordered pairs
    (Holm).
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
    """The findings about a run. A flag is a question, not a verdict."""

    chances: int
    blocks: int
    pairs: tuple[Leniency, ...]
    flags: tuple[Flag, ...]

    def most_lenient(self, most: int) -> list[Leniency]:
        """The first `most` ordered pairs, by ascending p, then by descending difference."""
        return sorted(self.pairs, key=lambda pair: (pair.p, -(pair.difference or 0.0)))[:most]

    def to_dict(self) -> dict[str, object]:
        """The findings as JSON values."""
        return asdict(self)


def integrity(
    records: Iterable[MatchRecord], authors: Mapping[str, str | None] | None = None
) -> Integrity:
    """Look for soft play in finished matches, which may come in any order.

    `authors` maps the name of each bot to its author, if known.
    """
    all_chances = sorted(
        (chance for record in records for chance in chances(record)),
        key=lambda chance: (chance.block, chance.match),
    )
    if not all_chances:
        return Integrity(0, 0, (), ())
    bots = sorted({name for chance in all_chances for name in (chance.bot, chance.opponent)})
    number = {bot: index for index, bot in enumerate(bots)}
    bot = np.array([number[chance.bot] for chance in all_chances])
    opponent = np.array([number[chance.opponent] for chance in all_chances])
    block = np.unique([chance.block for chance in all_chances], return_inverse=True)[1]
    beaten = np.array([chance.beaten for chance in all_chances], dtype=float)
    unexpected = beaten - _expected(all_chances, bot, beaten, len(bots))
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
            _matches(all_chances, unexpected, two),
        )
        for two in combinations(bots, 2)
        if two in lenient and two[::-1] in lenient
    )
    return Integrity(len(all_chances), int(block.max()) + 1, tuple(pairs), flags)


def chances(record: MatchRecord) -> Iterator[Chance]:
    """Replay a match, and yield every chance of a bot to beat another's play."""
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
    own_count, their_count = counts[seat], counts[leader]
    features = (
        np.log1p(own_count),
        np.log1p(their_count),
        float(their_count <= 2),
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
    """The probability that each chance is taken: logistic regression on bot and position."""
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
    """The probabilities for these log odds."""
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
    """The leniency of every ordered pair that met, with p corrected by Holm's method."""
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
    """The leniency towards one opponent and its one-sided p, from sums over blocks.

    The leniency is None, and p 1, if there are too few chances or blocks.
    """
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
    """The matches in which two bots most often passed on each other's plays that others beat."""
    spared: dict[str, float] = {}
    for chance, more in zip(found, unexpected, strict=True):
        if (chance.bot, chance.opponent) in (two, two[::-1]):
            spared[chance.match] = spared.get(chance.match, 0.0) - float(more)
    most = sorted(spared, key=lambda match: (-spared[match], match))
    return tuple(match for match in most[:SHOWN] if spared[match] > 0)
