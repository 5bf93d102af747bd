"""The course of a cup: a bracket, rounds, stages, or a challenger's results, by format. The result
of a duel."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, groupby, repeat
from operator import itemgetter

import numpy as np

import games
from tournament.formats import halving, knockout
from tournament.formats.duel import Duel
from tournament.formats.round_robin import Gauntlet
from tournament.formats.swiss import Swiss
from tournament.model import Run
from tournament.ranking.arrays import Ints
from tournament.ranking.betting import Bets, reach_of
from tournament.ranking.effects import fit
from tournament.ranking.observations import Observations, observe
from tournament.results.match_arrays import MatchArrays

_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Seated:
    """A bot at a table, and its result there."""

    bot: str
    score: float  # points per deal at the table or, in a halving, the score after the stage
    advances: bool | None = None  # not for bronze; None while not known, and if nobody advances


@dataclass(frozen=True, slots=True)
class CourseTable:
    """A table of a round, or all tables of a halving's stage."""

    stage: str
    blocks: int  # with a finished match
    bots: tuple[Seated, ...]  # best first


@dataclass(frozen=True, slots=True)
class CourseRound:
    """A round with its tables, and the bots that had a bye."""

    round: int
    tables: tuple[CourseTable, ...]
    byes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Against:
    """The results of a challenger against ``bot``, in all matches in which the two met."""

    bot: str
    blocks: int
    matches: int
    score: float  # points per deal
    opponent_score: float
    won: float  # share of matches, from 0 to 1, in which the challenger was ahead; ties are halves


@dataclass(frozen=True, slots=True)
class Course:
    """The course of a cup. Fields that do not belong to the format are empty."""

    winners: tuple[str, ...] = ()  # of a finished knockout or halving
    rounds: tuple[CourseRound, ...] = ()  # of a knockout or Swiss cup
    stages: tuple[CourseTable, ...] = ()  # of a halving
    challenger: str | None = None  # of a gauntlet
    against: tuple[Against, ...] = ()  # by place, bots without a place last


def course(arrays: MatchArrays, run: Run, places: Mapping[str, int]) -> Course | None:
    """Return the course of a run.

    Return None before the first finished match, if the format has no course, or for a gauntlet
    whose challenger is not in ``arrays.bots``. ``arrays`` must have all finished matches, even of
    disqualified bots. ``places`` must map every bot to its place, or to 0 if it has none.
    """
    if not arrays.block.size:
        return None
    winners = tuple(bot for bot in arrays.bots if run.finished and places[bot] == 1)
    match run.cup.format:
        case Swiss():
            rounds = [*_rounds(arrays, places)]
            tables = len(arrays.bots) // arrays.seats.shape[1]
            if not run.finished and len(rounds[-1].tables) < tables:
                rounds[-1] = replace(rounds[-1], byes=())  # some bots have not begun to play
            return Course(rounds=tuple(rounds))
        case knockout.Knockout():
            bracket = _bracket([*_rounds(arrays, places)], arrays, run.finished)
            return Course(winners, rounds=tuple(bracket))
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
) -> Iterator[tuple[int, CourseTable]]:
    """Yield, in schedule order, the number of the round and the table for each group of matches
    with equal rows in ``keys``, which has a row for each match. ``places`` orders bots with equal
    scores."""
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    bots = len(arrays.bots)
    cell = (group[:, np.newaxis] * bots + arrays.seats).ravel()
    shape = (first.size, bots)
    points = np.bincount(cell, arrays.scores.ravel(), first.size * bots).reshape(shape)
    deals_by_seat = np.broadcast_to(arrays.deals[:, np.newaxis], arrays.seats.shape).ravel()
    deals = np.bincount(cell, deals_by_seat, first.size * bots).reshape(shape)
    pairs = np.unique(np.column_stack((group, arrays.block)), axis=0)
    blocks = np.bincount(pairs[:, 0], minlength=first.size)
    for table in np.argsort(first):
        seated = [
            Seated(arrays.bots[bot], round(float(points[table, bot] / deals[table, bot]), _DIGITS))
            for bot in np.flatnonzero(deals[table])
        ]
        seated.sort(key=lambda seat: (-seat.score, places[seat.bot], seat.bot))
        stage = arrays.stages[arrays.stage[first[table]]]
        course_table = CourseTable(stage, int(blocks[table]), tuple(seated))
        yield int(arrays.round[first[table]]), course_table


def _rounds(arrays: MatchArrays, places: Mapping[str, int]) -> Iterator[CourseRound]:
    keys = np.column_stack((arrays.round, arrays.stage, np.sort(arrays.seats, axis=1)))
    by_round = sorted(_grouped(arrays, keys, places), key=itemgetter(0))
    for number, group in groupby(by_round, itemgetter(0)):
        tables = tuple(table for _, table in group)
        byes = sorted(set(arrays.bots) - _names(tables))
        yield CourseRound(number, tables, tuple(byes))


def _names(tables: Iterable[CourseTable]) -> set[str]:
    return {seated.bot for table in tables for seated in table.bots}


def _bracket(
    rounds: list[CourseRound], arrays: MatchArrays, finished: bool
) -> Iterator[CourseRound]:
    """Yield the rounds of a knockout, with ``advances`` set where it is known. Keep only the byes
    that are certain, since a bot without a table may also be out. ``finished`` is as in
    `_advancing`."""
    cuts = knockout.cuts(len(arrays.bots), arrays.seats.shape[1])
    for index, played in enumerate(rounds):
        after = (table for following in rounds[index + 1 :] for table in following.tables)
        later = _names(table for table in after if table.stage != "bronze")
        expected = cuts[index] if index < len(cuts) else []
        pairs = zip(played.tables, chain(expected, repeat(None)), strict=False)
        tables = (_advancing(table, later, count, finished) for table, count in pairs)
        is_first = index == 0 and not finished and len(played.tables) >= len(expected)
        byes = tuple(bot for bot in played.byes if bot in later or is_first)
        yield CourseRound(played.round, tuple(tables), byes)


def _advancing(
    table: CourseTable, later: set[str], expected: int | None, finished: bool
) -> CourseTable:
    """Return the table with ``advances`` set where it is known, or unchanged while no bot advances.

    ``later`` has the bots of later rounds. ``expected`` is the number of bots that will advance
    from the table, or None if none will. ``finished`` says whether the run is finished, so that
    bots not in ``later`` are out. Of bots with equal scores, those that advance come first.
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
    stages = list(_grouped(arrays, arrays.round[:, np.newaxis], places))
    planned = halving.stages(len(arrays.bots), arrays.seats.shape[1], 1)
    for after, (number, stage) in enumerate(stages, 1):
        so_far = arrays.round <= number  # all these blocks decide which bots play on
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
        later = _names(table for _, table in stages[after:])
        expected = planned[after].bots if after < len(planned) else None
        table = CourseTable(stage.stage, stage.blocks, tuple(seated))
        yield _advancing(table, later, expected, finished)


def against(arrays: MatchArrays, first: str) -> Iterator[Against]:
    """Yield the results of the bot `first` against each bot it met, in the order of `arrays.bots`.

    If a bot has several seats in a match, as in a duel, its points and wins are means over all
    pairs of a seat of `first` and a seat of the other bot.

    Raises:
        ValueError: at the first iteration, if `first` is not in `arrays.bots`.
    """
    number, count = arrays.bots.index(first), len(arrays.bots)
    met, seat = np.nonzero(arrays.seats == number)
    seats, theirs = arrays.seats[met].ravel(), arrays.scores[met].ravel()
    of_match = np.stack((arrays.scores[met, seat], met, arrays.block[met], arrays.deals[met]))
    ours, match, block, deals = np.repeat(of_match, arrays.seats.shape[1], axis=1)
    matches, blocks = (
        np.bincount(np.unique(np.stack((seats, key)), axis=1)[0], minlength=count)
        for key in (match, block)
    )
    shares = (1 + np.sign(ours - theirs)) / 2
    pairs, total, our_points, their_points, won = (
        np.bincount(seats, weights, count) for weights in (None, deals, ours, theirs, shares)
    )
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


@dataclass(frozen=True, slots=True)
class DuelResult:
    """The result of a duel, as in the field ``duel`` of ``stich standings --json``.

    ``low``, ``high`` and ``better`` are None if ``max_difference`` is not known, or if a block
    exceeded it although the rules guarantee it, because nothing is proved then.
    """

    ahead: str  # has the higher mean of points per deal, or comes first by name if they are equal
    behind: str
    difference: float  # of the means, at least 0
    low: float | None  # the 95 % interval of the difference, which holds however often anyone looks
    high: float | None
    better: str | None  # `ahead` if the interval excludes 0
    blocks: int  # complete ones; others do not count
    max_difference: int | None  # the largest possible difference in points per deal, if known

    def equal(self, within: float | None) -> bool:
        """Return whether the bots are proved to differ by at most ``within`` points per deal.

        Return False if ``within`` is None or there is no interval.
        """
        if within is None or self.low is None or self.high is None:
            return False
        return -within <= self.low and self.high <= within


def duel_result(arrays: MatchArrays, data: Observations, run: Run) -> DuelResult | None:
    """Return the result of a duel, or None if ``arrays`` does not have exactly two bots.

    The cup may have any format. ``data`` must be the observations of ``arrays``. Incomplete blocks
    do not count, since their seats and cards may favour a bot. Without complete blocks, the
    difference is 0.
    """
    if len(arrays.bots) != 2:
        return None
    complete = np.zeros(data.blocks, bool)
    complete[arrays.block] = arrays.complete
    points = np.zeros((2, data.blocks))
    points[data.bot, data.block] = data.points
    both = np.bincount(data.block, minlength=data.blocks) == 2
    differences = (points[0] - points[1])[complete & both]
    limit = run.max_difference
    game = games.GAMES.get(run.cup.game)
    reach = None if limit is None else reach_of(limit, game is None or game.bounded)
    within = run.cup.format.within if isinstance(run.cup.format, Duel) else None
    bets = Bets(differences, reach, within)
    interval = bets.interval
    ends = [None if end is None else round(end, _DIGITS) for end in (interval.low, interval.high)]
    ahead, behind = arrays.bots
    if bets.mean < 0:
        ahead, behind = behind, ahead
        ends = [None if end is None else 0.0 - end for end in reversed(ends)]
    return DuelResult(
        ahead=ahead,
        behind=behind,
        difference=round(abs(bets.mean), _DIGITS),
        low=ends[0],
        high=ends[1],
        better=ahead if bets.settled else None,
        blocks=len(differences),
        max_difference=limit,
    )
