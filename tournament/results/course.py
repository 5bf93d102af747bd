"""How a cup went, by its format: the bracket of a knockout, the rounds of a Swiss, the stages of a
halving, and the challenger of a gauntlet against each.

Everything follows from the finished matches, so an export tells as much as its store.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, groupby, repeat
from operator import itemgetter

import numpy as np

from tournament.formats import halving, knockout
from tournament.formats.round_robin import Gauntlet
from tournament.formats.swiss import Swiss
from tournament.model import Run
from tournament.ranking.arrays import Ints
from tournament.ranking.effects import fit
from tournament.ranking.observations import observe
from tournament.results.match_arrays import MatchArrays

_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Seated:
    """A bot at a table, with its points a deal there; in a stage of a halving, with its score
    after it. ``advances`` says whether it played on; None where nobody does, and as long as it is
    not known."""

    bot: str
    score: float
    advances: bool | None = None


@dataclass(frozen=True, slots=True)
class CourseTable:
    """A table of a round, or all of a halving's stage: its bots, the best first."""

    stage: str
    blocks: int
    bots: tuple[Seated, ...]


@dataclass(frozen=True, slots=True)
class CourseRound:
    """A round with its tables, and the bots that had a bye."""

    round: int
    tables: tuple[CourseTable, ...]
    byes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Against:
    """A bot against another, ``bot``: blocks and matches in which they met, points a deal of the
    first and of ``bot`` in these, and the share of matches in which the first had more."""

    bot: str
    blocks: int
    matches: int
    score: float
    opponent_score: float
    won: float


@dataclass(frozen=True, slots=True)
class Course:
    """How a cup went. ``winners`` are the bots in first place of a finished knockout or halving.
    ``rounds`` are those of a knockout or Swiss, ``stages`` those of a halving; ``against`` is the
    ``challenger`` of a gauntlet against each."""

    winners: tuple[str, ...] = ()
    rounds: tuple[CourseRound, ...] = ()
    stages: tuple[CourseTable, ...] = ()
    challenger: str | None = None
    against: tuple[Against, ...] = ()


def course(arrays: MatchArrays, run: Run, places: Mapping[str, int]) -> Course | None:
    """Return the course of a run; None before the first match and if its format has none.

    ``places`` are by bot, 0 for one without a place.
    """
    if not arrays.block.size:
        return None
    winners = tuple(bot for bot in arrays.bots if run.finished and places[bot] == 1)
    match run.cup.format:
        case Swiss():
            return Course(rounds=tuple(_rounds(arrays, places)))
        case knockout.Knockout():
            rounds = _bracket(_rounds(arrays, places), arrays, run.finished)
            return Course(winners, rounds=tuple(rounds))
        case halving.Halving():
            return Course(winners, stages=tuple(_stages(arrays, run.finished, places)))
        case Gauntlet(challenger=first) if first in arrays.bots:
            by_place = sorted(against(arrays, first), key=lambda one: (places[one.bot], one.bot))
            return Course(challenger=first, against=tuple(by_place))
    return None


def _grouped(
    arrays: MatchArrays, keys: Ints, places: Mapping[str, int]
) -> list[tuple[int, CourseTable]]:
    """The matches with equal rows of ``keys`` (M, any) as tables, with their rounds, in the order
    of the schedule. Bots with equal points stand in the order of their places."""
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    bots = len(arrays.bots)
    cell = (group[:, np.newaxis] * bots + arrays.seats).ravel()
    shape = (first.size, bots)
    points = np.bincount(cell, arrays.scores.ravel(), first.size * bots).reshape(shape)
    each = np.broadcast_to(arrays.deals[:, np.newaxis], arrays.seats.shape).ravel()
    deals = np.bincount(cell, each, first.size * bots).reshape(shape)
    pairs = np.unique(np.column_stack((group, arrays.block)), axis=0)
    blocks = np.bincount(pairs[:, 0], minlength=first.size)
    found = []
    for table in np.argsort(first):
        seated = [
            Seated(arrays.bots[bot], round(float(points[table, bot] / deals[table, bot]), _DIGITS))
            for bot in np.flatnonzero(deals[table])
        ]
        seated.sort(key=lambda one: (-one.score, places[one.bot], one.bot))
        stage = arrays.stages[arrays.stage[first[table]]]
        made = CourseTable(stage, int(blocks[table]), tuple(seated))
        found.append((int(arrays.round[first[table]]), made))
    return found


def _rounds(arrays: MatchArrays, places: Mapping[str, int]) -> list[CourseRound]:
    keys = np.column_stack((arrays.round, arrays.stage, np.sort(arrays.seats, axis=1)))
    found = []
    by_round = sorted(_grouped(arrays, keys, places), key=itemgetter(0))
    for number, group in groupby(by_round, itemgetter(0)):
        tables = tuple(table for _, table in group)
        byes = sorted(set(arrays.bots) - _names(tables))
        found.append(CourseRound(number, tables, tuple(byes)))
    return found


def _names(tables: Iterable[CourseTable]) -> set[str]:
    return {seated.bot for table in tables for seated in table.bots}


def _bracket(rounds: list[CourseRound], arrays: MatchArrays, finished: bool) -> list[CourseRound]:
    """The rounds with who advanced. Byes are those of bots that still play."""
    players = arrays.seats.shape[1]
    cuts = knockout.cuts(len(arrays.bots), players)
    found = []
    for index, one in enumerate(rounds):
        after = (table for following in rounds[index + 1 :] for table in following.tables)
        later = _names(table for table in after if table.stage != "bronze")
        expected = cuts[index] if index < len(cuts) else []
        pairs = zip(one.tables, chain(expected, repeat(None)), strict=False)
        tables = (_advancing(table, later, count, finished) for table, count in pairs)
        byes = tuple(bot for bot in one.byes if bot in later or (index == 0 and not finished))
        found.append(CourseRound(one.round, tuple(tables), byes))
    return found


def _advancing(
    table: CourseTable, later: set[str], expected: int | None, finished: bool
) -> CourseTable:
    """The table with who advanced: known once all that advance have played on."""
    seen = sum(seated.bot in later for seated in table.bots)
    if expected is None or not seen:
        return table
    known = finished or seen == expected
    not_later = False if known else None
    bots = (replace(one, advances=one.bot in later or not_later) for one in table.bots)
    ordered = sorted(bots, key=lambda one: (-one.score, not one.advances))
    return replace(table, bots=tuple(ordered))


def _stages(
    arrays: MatchArrays, finished: bool, places: Mapping[str, int]
) -> Iterator[CourseTable]:
    """The stages, each with the scores of all blocks up to its end, which decide who plays on."""
    stages = [table for _, table in _grouped(arrays, arrays.round[:, np.newaxis], places)]
    planned = halving.stages(len(arrays.bots), arrays.seats.shape[1], 1)
    numbers = np.unique(arrays.round).tolist()
    for index, (number, stage) in enumerate(zip(numbers, stages, strict=True)):
        so_far = arrays.round <= number
        seen = observe(
            arrays.block[so_far],
            arrays.deals[so_far],
            arrays.seats[so_far],
            arrays.scores[so_far],
            len(arrays.bots),
        )
        score = dict(zip(arrays.bots, fit(seen).score.tolist(), strict=True))
        seated = [Seated(one.bot, score[one.bot]) for one in stage.bots]
        seated.sort(key=lambda one: (-one.score, places[one.bot], one.bot))
        later = _names(stages[index + 1 :])
        expected = planned[index + 1].bots if index + 1 < len(planned) else None
        table = CourseTable(stage.stage, stage.blocks, tuple(seated))
        yield _advancing(table, later, expected, finished)


def against(arrays: MatchArrays, first: str) -> Iterator[Against]:
    """Yield how a bot did against each that it met, in the order of `arrays.bots`."""
    number, count = arrays.bots.index(first), len(arrays.bots)
    met, seat = np.nonzero(arrays.seats == number)
    seats, theirs = arrays.seats[met].ravel(), arrays.scores[met].ravel()
    players = arrays.seats.shape[1]
    ours = np.repeat(arrays.scores[met, seat], players)
    block, deals = np.repeat(arrays.block[met], players), np.repeat(arrays.deals[met], players)
    matches = np.bincount(seats, minlength=count)
    blocks = np.bincount(np.unique(np.stack((seats, block)), axis=1)[0], minlength=count)
    total = np.bincount(seats, deals, count)
    own, opponent = np.bincount(seats, ours, count), np.bincount(seats, theirs, count)
    won = np.bincount(seats, (ours > theirs) + (ours == theirs) / 2, count)
    for bot in np.flatnonzero(matches):
        if bot != number:
            yield Against(
                bot=arrays.bots[bot],
                blocks=int(blocks[bot]),
                matches=int(matches[bot]),
                score=round(float(own[bot] / total[bot]), _DIGITS),
                opponent_score=round(float(opponent[bot] / total[bot]), _DIGITS),
                won=float(won[bot] / matches[bot]),
            )
