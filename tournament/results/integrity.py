"""Detection of soft play: two bots beat each other's plays less often than other bots' plays.

Whenever a bot can legally beat another bot's play, it either beats the play or passes. A logistic
regression over the whole cup gives the probability of beating the play in a given position. The
tests treat blocks as independent, and Holm's method corrects for the number of ordered pairs.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations

import numpy as np

import games
from games import IllegalMove, State
from games.move import PASS
from games.position import Table
from tournament.errors import ReplayError
from tournament.ranking.arrays import Booleans, Floats, Ints
from tournament.ranking.student import student_tail
from tournament.records import MatchRecord

LEVEL = 0.05
LEAST = 0.05  # the smallest difference of two rates that is flagged
_SHOWN = 10  # the largest number of matches listed for a flagged pair


@dataclass(frozen=True, slots=True)
class Chance:
    """A bot's chance to beat an opponent's play, and whether the bot beat the play."""

    block: int
    match: str
    bot: str
    opponent: str
    category: str  # of the play to beat, such as a pair
    features: tuple[float, ...]  # of the position, the same for every chance
    beaten: bool


@dataclass(frozen=True, slots=True)
class Leniency:
    """How much more rarely `bot` beats plays of `opponent` than plays of other bots."""

    bot: str
    opponent: str
    chances: int
    rate: float  # the share of the chances that `bot` took
    difference: float | None  # of rates, adjusted for the position; None with too few chances
    p: float  # one-sided, corrected over all ordered pairs; 1 with too few chances


@dataclass(frozen=True, slots=True)
class Flag:
    """Two bots that seem to go easy on each other."""

    bots: tuple[str, str]
    same_author: bool  # False if one of the authors is not known
    matches: tuple[str, ...]  # up to 10 that show the leniency best, the clearest first


@dataclass(frozen=True, slots=True)
class Integrity:
    """The findings about a run. A flag raises a question, and is not a verdict."""

    chances: int
    blocks: int  # with a chance
    pairs: tuple[Leniency, ...]  # ordered pairs in which the first bot had a chance
    flags: tuple[Flag, ...]  # pairs of bots that are significantly lenient towards each other

    def most_lenient(self, most: int) -> list[Leniency]:
        """Return up to `most` of `pairs`: those with the smallest p, in ascending order of p. Pairs
        with equal p are in descending order of the difference."""
        return sorted(self.pairs, key=lambda pair: (pair.p, -(pair.difference or 0.0)))[:most]


def integrity(
    records: Iterable[MatchRecord], authors: Mapping[str, str | None] | None = None
) -> Integrity:
    """Look for soft play in finished matches, which may be in any order, and return the findings.

    `authors` maps each bot's name to its author, or to None if the author is not known.

    Raises:
        ReplayError: if a move of a match is not legal.
        games.OptionError, games.UnknownGame: if a match cannot be started.
        StoreError: if the matches come from a store that cannot be read.
    """
    all_chances = sorted(
        (chance for record in records for chance in chances(record)),
        key=lambda chance: (chance.block, chance.match),
    )
    if not all_chances:
        return Integrity(0, 0, (), ())
    names = [(chance.bot, chance.opponent) for chance in all_chances]
    bots = sorted(set(chain(*names)))
    bot, opponent = np.searchsorted(bots, names).T
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
    """Replay a match, and yield every chance of a bot to beat another bot's play, in order of play.

    Leave out chances to beat a partner's play, chances at which a fault's default move was played,
    and all chances of a seat that was struck out, even before it was. Moves after the end of the
    game are ignored.

    Raises:
        ReplayError: if a move is not legal. The chances in earlier deals have been yielded by then.
        games.OptionError, games.UnknownGame: if the match cannot be started.
    """
    state: State = games.get(record.game).start(record.players, record.seed, record.options)
    default_moves = {fault.move for fault in record.faults}
    deal: list[tuple[int, int, Chance]] = []
    for index, text in enumerate(record.moves):
        seat, table = state.turn, state.table
        if seat is None:
            return
        if table is not None and index not in default_moves and seat not in record.struck:
            leader = table.seat
            answers = len(state.moves()) - 1
            if answers and record.seating[leader] != record.seating[seat]:
                deal.append((seat, leader, _chance(record, state, seat, table, answers, text)))
        before = len(state.results)
        try:
            state = state.advance(text)
        except IllegalMove as error:
            raise ReplayError(record.match, index, text, error.detail) from None
        if len(state.results) > before:
            teams = state.game.sides(state.results[-1], record.players)
            for mover, leader, chance in deal:
                if teams is None or teams[mover] != teams[leader]:
                    yield chance
            deal = []


def _chance(
    record: MatchRecord, state: State, seat: int, table: Table, answers: int, move: str
) -> Chance:
    leader, play = table.seat, table.move
    counts = state.view(seat).counts
    features = (
        np.log1p(counts[seat]),
        np.log1p(counts[leader]),
        float(counts[leader] <= 2),
        float(min(counts) <= 2),
        np.log1p(answers),
        float(play.level),
        float(play.level) ** 2 / 10,
        float(play.length or 1),
        float((leader + 1) % record.players == seat),
    )
    bots = record.seating[seat], record.seating[leader]
    category, beaten = str(play.category), move != PASS
    return Chance(record.block, record.match, *bots, category, features, beaten)


def _expected(all_chances: Sequence[Chance], bot: Ints, beaten: Floats, bots: int) -> Floats:
    """Return, for each chance, the fitted probability that the bot beats the play. For each chance,
    ``bot`` has the bot's number, below ``bots``, and ``beaten`` has 1 if it beat the play, else 0.
    """
    names, category = np.unique([chance.category for chance in all_chances], return_inverse=True)
    position = np.array([chance.features for chance in all_chances])
    position = (position - position.mean(axis=0)) / np.maximum(position.std(axis=0), 1e-9)
    design = np.hstack((np.eye(bots)[bot], np.eye(len(names))[category], position))
    weights = np.zeros(design.shape[1])
    ridge = np.eye(len(weights))  # without it, a bot that always passes has no finite maximum
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
    probabilities: Floats = np.exp(-np.logaddexp(0.0, -odds))
    return probabilities


def _leniencies(
    bots: Sequence[str], bot: Ints, opponent: Ints, block: Ints, beaten: Floats, unexpected: Floats
) -> list[Leniency]:
    pairs = []
    for i, name in enumerate(bots):
        mine = np.flatnonzero(bot == i)
        for j in np.unique(opponent[mine]):
            against = opponent[mine] == j
            rate = float(beaten[mine][against].mean())
            difference, p = _difference(unexpected[mine], against, block[mine])
            pairs.append(Leniency(name, bots[j], int(against.sum()), rate, difference, p))
    p_values = np.array([pair.p for pair in pairs])
    order = np.argsort(p_values, kind="stable")
    corrected = np.minimum(1.0, p_values[order] * np.arange(order.size, 0, -1))  # Holm's method
    p_values[order] = np.maximum.accumulate(corrected)
    return [replace(pair, p=p) for pair, p in zip(pairs, p_values.tolist(), strict=True)]


def _difference(unexpected: Floats, against: Booleans, block: Ints) -> tuple[float | None, float]:
    """Return how much more rarely than expected a bot beats one opponent's plays, compared with
    other plays, and the one-sided p before Holm's correction. Return (None, 1.0) if the opponent's
    plays are in fewer than three blocks, or if there are no other plays.

    The arrays have an entry for each of the bot's chances. ``unexpected`` is 1 if the bot beat the
    play, else 0, minus the expected probability. ``against`` says whether the play is the
    opponent's.
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


def _matches(
    all_chances: Sequence[Chance], unexpected: Floats, two: tuple[str, str]
) -> tuple[str, ...]:
    """Return up to ten matches in which the two bots together beat fewer of each other's plays than
    expected, sorted by descending shortfall. ``unexpected`` has an entry for each of
    ``all_chances``, as in `_difference`."""
    excess: defaultdict[str, float] = defaultdict(float)
    for chance, beaten_more in zip(all_chances, unexpected.tolist(), strict=True):
        if (chance.bot, chance.opponent) in (two, two[::-1]):
            excess[chance.match] -= beaten_more
    most = sorted(excess, key=lambda match: (-excess[match], match))
    return tuple(match for match in most[:_SHOWN] if excess[match] > 0)
