"""The course of a cup, which depends on its format.

A knockout has a bracket, a Swiss its rounds, a halving its stages, and a gauntlet the challenger's
results against each bot. Everything follows from the finished matches, so an export shows as much
as its store.
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
    """A bot at a table, with its points per deal there.

    In a stage of a halving, ``score`` is the bot's score after the stage. ``advances`` says whether
    the bot played on. It is None if that is not known yet, and in formats without advancement.
    """

    bot: str
    score: float
    advances: bool | None = None


@dataclass(frozen=True, slots=True)
class CourseTable:
    """A table of a round, or all tables of a halving's stage. The bots are sorted, best first."""

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
    """The results of a challenger against another bot, ``bot``.

    ``blocks`` and ``matches`` count those in which the two met. ``score`` is the challenger's
    points per deal in these, and ``opponent_score`` those of ``bot``. ``won`` is the share of
    matches in which the challenger had more points; a tie counts as half.
    """

    bot: str
    blocks: int
    matches: int
    score: float
    opponent_score: float
    won: float


@dataclass(frozen=True, slots=True)
class Course:
    """The course of a cup.

    ``winners`` are the bots in first place of a finished knockout or halving. ``rounds`` are the
    rounds of a knockout or Swiss, and ``stages`` those of a halving. ``against`` holds the results
    of the ``challenger`` of a gauntlet against each bot.
    """

    winners: tuple[str, ...] = ()
    rounds: tuple[CourseRound, ...] = ()
    stages: tuple[CourseTable, ...] = ()
    challenger: str | None = None
    against: tuple[Against, ...] = ()


def course(arrays: MatchArrays, run: Run, places: Mapping[str, int]) -> Course | None:
    """Return the course of a run, or None before the first match or if its format has none.

    ``places`` are by bot, with 0 for a bot without a place.
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
            met = against(arrays, first)
            by_place = sorted(met, key=lambda other: (places[other.bot], other.bot))
            return Course(challenger=first, against=tuple(by_place))
    return None


def _grouped(
    arrays: MatchArrays, keys: Ints, places: Mapping[str, int]
) -> list[tuple[int, CourseTable]]:
    """The matches grouped into tables, each with its round, in the order of the schedule.

    Matches with equal rows of ``keys`` (M, any) form a table. Bots with equal points are in the
    order of their places.
    """
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    bots = len(arrays.bots)
    cell = (group[:, np.newaxis] * bots + arrays.seats).ravel()
    shape = (first.size, bots)
    points = np.bincount(cell, arrays.scores.ravel(), first.size * bots).reshape(shape)
    deals_by_seat = np.broadcast_to(arrays.deals[:, np.newaxis], arrays.seats.shape).ravel()
    deals = np.bincount(cell, deals_by_seat, first.size * bots).reshape(shape)
    pairs = np.unique(np.column_stack((group, arrays.block)), axis=0)
    blocks = np.bincount(pairs[:, 0], minlength=first.size)
    tables = []
    for table in np.argsort(first):
        seated = [
            Seated(arrays.bots[bot], round(float(points[table, bot] / deals[table, bot]), _DIGITS))
            for bot in np.flatnonzero(deals[table])
        ]
        seated.sort(key=lambda one: (-one.score, places[one.bot], one.bot))
        stage = arrays.stages[arrays.stage[first[table]]]
        course_table = CourseTable(stage, int(blocks[table]), tuple(seated))
        tables.append((int(arrays.round[first[table]]), course_table))
    return tables


def _rounds(arrays: MatchArrays, places: Mapping[str, int]) -> list[CourseRound]:
    keys = np.column_stack((arrays.round, arrays.stage, np.sort(arrays.seats, axis=1)))
    rounds = []
    by_round = sorted(_grouped(arrays, keys, places), key=itemgetter(0))
    for number, group in groupby(by_round, itemgetter(0)):
        tables = tuple(table for _, table in group)
        byes = sorted(set(arrays.bots) - _names(tables))
        rounds.append(CourseRound(number, tables, tuple(byes)))
    return rounds


def _names(tables: Iterable[CourseTable]) -> set[str]:
    return {seated.bot for table in tables for seated in table.bots}


def _bracket(rounds: list[CourseRound], arrays: MatchArrays, finished: bool) -> list[CourseRound]:
    """The rounds with the bots that advanced. Only bots that still play have byes."""
    players = arrays.seats.shape[1]
    cuts = knockout.cuts(len(arrays.bots), players)
    with_advances = []
    for index, played in enumerate(rounds):
        after = (table for following in rounds[index + 1 :] for table in following.tables)
        later = _names(table for table in after if table.stage != "bronze")
        expected = cuts[index] if index < len(cuts) else []
        pairs = zip(played.tables, chain(expected, repeat(None)), strict=False)
        tables = (_advancing(table, later, count, finished) for table, count in pairs)
        byes = tuple(bot for bot in played.byes if bot in later or (index == 0 and not finished))
        with_advances.append(CourseRound(played.round, tuple(tables), byes))
    return with_advances


def _advancing(
    table: CourseTable, later: set[str], expected: int | None, finished: bool
) -> CourseTable:
    """The table with the bots that advanced.

    `advances` is known once all advancing bots played on.
    """
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
    """Yield the stages.

    The scores cover all blocks up to the end of each stage, since these decide which bots play on.
    """
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
    """Yield a bot's results against each bot that it met, in the order of `arrays.bots`."""
    number, count = arrays.bots.index(first), len(arrays.bots)
    met, seat = np.nonzero(arrays.seats == number)
    seats, theirs = arrays.seats[met].ravel(), arrays.scores[met].ravel()
    players = arrays.seats.shape[1]
    ours = np.repeat(arrays.scores[met, seat], players)
    block, deals = np.repeat(arrays.block[met], players), np.repeat(arrays.deals[met], players)
    matches = np.bincount(seats, minlength=count)
    blocks = np.bincount(np.unique(np.stack((seats, block)), axis=1)[0], minlength=count)
    total = np.bincount(seats, deals, count)
    our_points, their_points = np.bincount(seats, ours, count), np.bincount(seats, theirs, count)
    won = np.bincount(seats, (ours > theirs) + (ours == theirs) / 2, count)
    for bot in np.flatnonzero(matches):
        if bot != number:
            yield Against(
                bot=arrays.bots[bot],
                blocks=int(blocks[bot]),
                matches=int(matches[bot]),
                score=round(float(our_points[bot] / total[bot]), _DIGITS),
                opponent_score=round(float(their_points[bot] / total[bot]), _DIGITS),
                won=float(won[bot] / matches[bot]),
            )
