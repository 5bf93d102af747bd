"""The course of a cup, which depends on the format.

A knockout has a bracket, a Swiss cup has rounds, a halving has stages, and a gauntlet has the
challenger's results against each bot. The course follows from the finished matches and the places,
so an export has the same course as its store.
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
    """A bot at a table, and the bot's result there.

    ``score`` is the bot's points per deal at the table or, in a stage of a halving, its score after
    the stage. ``advances`` says whether the bot played on, other than for bronze. It is None if
    that is not known yet, in the last round, and in formats without advancement.
    """

    bot: str
    score: float
    advances: bool | None = None


@dataclass(frozen=True, slots=True)
class CourseTable:
    """A table of a round, or all tables of a halving's stage.

    ``blocks`` is the number of its blocks with a finished match. The bots are sorted, best first.
    """

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

    ``blocks`` and ``matches`` count the blocks and matches in which the two bots met. ``score`` and
    ``opponent_score`` are the points per deal of the challenger and of ``bot`` in these matches.
    ``won`` is the share of these matches, from 0 to 1, in which the challenger had more points. A
    tie counts as half.
    """

    bot: str
    blocks: int
    matches: int
    score: float
    opponent_score: float
    won: float


@dataclass(frozen=True, slots=True)
class Course:
    """The course of a cup. Fields that do not belong to the format are empty.

    ``winners`` are the bots in first place in a finished knockout or halving. ``rounds`` are the
    rounds of a knockout or Swiss cup. ``stages`` are the stages of a halving. ``challenger`` is the
    challenger of a gauntlet, and ``against`` has its results against each bot, by place. Bots
    without a place come last.
    """

    winners: tuple[str, ...] = ()
    rounds: tuple[CourseRound, ...] = ()
    stages: tuple[CourseTable, ...] = ()
    challenger: str | None = None
    against: tuple[Against, ...] = ()


def course(arrays: MatchArrays, run: Run, places: Mapping[str, int]) -> Course | None:
    """Return the course of a run.

    Return None before the first finished match, if the format has no course, or for a gauntlet
    whose challenger is not in ``arrays.bots``. ``arrays`` must have all finished matches, including
    disqualified bots' matches. ``places`` must map each of ``arrays.bots`` to its place, or to 0 if
    it has none.
    """
    if not arrays.block.size:
        return None
    winners = tuple(bot for bot in arrays.bots if run.finished and places[bot] == 1)
    match run.cup.format:
        case Swiss():
            rounds = _rounds(arrays, places)
            tables = len(arrays.bots) // arrays.seats.shape[1]
            if not run.finished and len(rounds[-1].tables) < tables:
                rounds[-1] = replace(rounds[-1], byes=())  # some bots have not begun to play
            return Course(rounds=tuple(rounds))
        case knockout.Knockout():
            rounds = _bracket(_rounds(arrays, places), arrays, run.finished)
            return Course(winners, rounds=tuple(rounds))
        case halving.Halving():
            return Course(winners, stages=tuple(_stages(arrays, run.finished, places)))
        case Gauntlet(challenger=first) if first in arrays.bots:
            met = against(arrays, first)
            last = len(places) + 1
            by_place = sorted(met, key=lambda line: (places[line.bot] or last, line.bot))
            return Course(challenger=first, against=tuple(by_place))
    return None


def _grouped(
    arrays: MatchArrays, keys: Ints, places: Mapping[str, int]
) -> list[tuple[int, CourseTable]]:
    """Group the matches into tables, and return each as (round, table), in schedule order.

    Matches with equal rows of ``keys``, which has one row for each match, form a table. Its bots
    are sorted by points per deal, best first, then by their ``places``, then by name.
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
        seated.sort(key=lambda seat: (-seat.score, places[seat.bot], seat.bot))
        stage = arrays.stages[arrays.stage[first[table]]]
        course_table = CourseTable(stage, int(blocks[table]), tuple(seated))
        tables.append((int(arrays.round[first[table]]), course_table))
    return tables


def _rounds(arrays: MatchArrays, places: Mapping[str, int]) -> list[CourseRound]:
    """Return the rounds by number. Each bot without a finished match in a round has a bye there."""
    keys = np.column_stack((arrays.round, arrays.stage, np.sort(arrays.seats, axis=1)))
    rounds = []
    by_round = sorted(_grouped(arrays, keys, places), key=itemgetter(0))
    for number, group in groupby(by_round, itemgetter(0)):
        tables = tuple(table for _, table in group)
        byes = sorted(set(arrays.bots) - _names(tables))
        rounds.append(CourseRound(number, tables, tuple(byes)))
    return rounds


def _names(tables: Iterable[CourseTable]) -> set[str]:
    """Return the bots at these tables."""
    return {seated.bot for table in tables for seated in table.bots}


def _bracket(rounds: list[CourseRound], arrays: MatchArrays, finished: bool) -> list[CourseRound]:
    """Return the rounds of a knockout with ``advances`` set, without the byes of bots that are out.

    A bye stays if its bot has played later (other than for bronze) or, until the cup is
    ``finished``, if it is in the first round and all tables of the round have begun.
    """
    players = arrays.seats.shape[1]
    cuts = knockout.cuts(len(arrays.bots), players)
    with_advances = []
    for index, played in enumerate(rounds):
        after = (table for following in rounds[index + 1 :] for table in following.tables)
        later = _names(table for table in after if table.stage != "bronze")
        expected = cuts[index] if index < len(cuts) else []
        pairs = zip(played.tables, chain(expected, repeat(None)), strict=False)
        tables = (_advancing(table, later, count, finished) for table, count in pairs)
        is_first = index == 0 and not finished and len(played.tables) >= len(expected)
        byes = tuple(bot for bot in played.byes if bot in later or is_first)
        with_advances.append(CourseRound(played.round, tuple(tables), byes))
    return with_advances


def _advancing(
    table: CourseTable, later: set[str], expected: int | None, finished: bool
) -> CourseTable:
    """Return the table with ``advances`` set. Of equal bots, those that advanced come first.

    ``later`` are the bots that played later, and ``expected`` is how many bots of the table
    advance, or None if none do. A bot that did not play later counts as out once the cup is
    finished or all expected bots have played on. Until then its ``advances`` is None. The table is
    returned as it is if ``expected`` is None or if none of its bots has played later.
    """
    seen = sum(seated.bot in later for seated in table.bots)
    if expected is None or not seen:
        return table
    out = False if finished or seen == expected else None
    bots = (replace(seated, advances=seated.bot in later or out) for seated in table.bots)
    ordered = sorted(bots, key=lambda seated: (-seated.score, not seated.advances))
    return replace(table, bots=tuple(ordered))


def _stages(
    arrays: MatchArrays, finished: bool, places: Mapping[str, int]
) -> Iterator[CourseTable]:
    """Yield the stages of a halving by round, with ``advances`` set.

    A score covers all blocks up to the end of its stage, since these decide which bots play on.
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
        seated = [Seated(seat.bot, score[seat.bot]) for seat in stage.bots]
        seated.sort(key=lambda seat: (-seat.score, places[seat.bot], seat.bot))
        later = _names(stages[index + 1 :])
        expected = planned[index + 1].bots if index + 1 < len(planned) else None
        table = CourseTable(stage.stage, stage.blocks, tuple(seated))
        yield _advancing(table, later, expected, finished)


def against(arrays: MatchArrays, first: str) -> Iterator[Against]:
    """Yield the results of the bot `first` against each bot it met, in the order of `arrays.bots`.

    If bots have several seats in a match, as in a duel, points and wins are means over all pairs of
    their seats.

    Raises:
        ValueError: at the first iteration, if `first` is not in `arrays.bots`.
    """
    number, count = arrays.bots.index(first), len(arrays.bots)
    met, seat = np.nonzero(arrays.seats == number)
    seats, theirs = arrays.seats[met].ravel(), arrays.scores[met].ravel()
    players = arrays.seats.shape[1]
    ours = np.repeat(arrays.scores[met, seat], players)
    block, deals = np.repeat(arrays.block[met], players), np.repeat(arrays.deals[met], players)
    pairs = np.bincount(seats, minlength=count)
    matches, blocks = (
        np.bincount(np.unique(np.stack((seats, key)), axis=1)[0], minlength=count)
        for key in (np.repeat(met, players), block)
    )
    total = np.bincount(seats, deals, count)
    our_points, their_points = np.bincount(seats, ours, count), np.bincount(seats, theirs, count)
    won = np.bincount(seats, (ours > theirs) + (ours == theirs) / 2, count)
    for bot in np.flatnonzero(pairs):
        if bot != number:
            yield Against(
                bot=arrays.bots[bot],
                blocks=int(blocks[bot]),
                matches=int(matches[bot]),
                score=round(float(our_points[bot] / total[bot]), _DIGITS),
                opponent_score=round(float(their_points[bot] / total[bot]), _DIGITS),
                won=float(won[bot] / pairs[bot]),
            )
