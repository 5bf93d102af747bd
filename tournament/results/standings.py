"""The standings of a run: scores and rank ranges, computed from its matches.

``docs/statistics.md`` says what each column means.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
import numpy as np

from tournament.formats.halving import Halving
from tournament.formats.knockout import Knockout
from tournament.formats.ladder import Ladder
from tournament.formats.round_robin import RoundRobin
from tournament.model import Run
from tournament.ranking.arrays import Booleans, Floats, Interval
from tournament.ranking.effects import Fit, fit, score_intervals
from tournament.ranking.evidence import evidence
from tournament.ranking.observations import observe
from tournament.ranking.ranks import anytime_chances, final_chances, rank_ranges, settled_pairs
from tournament.records import FAULT_KINDS, AnyDecision, FaultKind, MatchSummary
from tournament.results.course import Course, course
from tournament.results.duel_result import DuelResult, duel_result
from tournament.results.ladder_table import Status, draws, ladder_table, statuses
from tournament.results.match_arrays import MatchArrays, collect


@dataclass(frozen=True, slots=True)
class MoveTimes:
    """The median and the 99th percentile of a bot's thinking times, in milliseconds.

    Only answered requests count. Both values are rounded to microseconds, and None if no request
    was answered.
    """

    median: float | None
    p99: float | None


@dataclass(frozen=True, slots=True)
class Standing:
    """One bot's line in the standings, with the fields of `stich standings --json`.

    ``place`` is the official result. Places follow from the bracket in a knockout, from the last
    stage played and then the score in a halving, and from the score elsewhere. Equal bots share a
    place. ``place`` is None for a bot that has not played, for all bots before the end of a
    knockout or halving, and in other formats if the bots form groups that never met. In a
    ladder it is None for bots whose ``status`` is "new" or "left"; otherwise the status is "".

    ``rank`` is the first and last rank that the evidence allows among all bots, or in a ladder
    among the bots with a place. There, a bot without a place may have any rank. ``score`` is the
    expected points per deal against the other bots of the cup. ``plain`` is the bot's mean of
    points per deal. ``won`` is the share of matches won, from 0 to 1, where a tie among k seats
    counts as 1/k. All three are None before the bot's first match. ``low`` to ``high`` is the 95 %
    interval of the score in a round-robin, or where all tables were played equally often. Both ends
    are None otherwise, in a duel or ladder, and while some table has only one block.

    ``group`` is the number of the bot's group, from 1, or None before the bot's first match. The
    bots of a group met directly or through other bots. ``faults`` counts faults by kind, and
    ``struck_out`` the matches in which the bot was struck out. ``fallback`` is the share of the
    requested moves that were not the bot's own, from 0 to 1, or None if no answer of the bot has a
    time, as in exported rows. ``blocks_since_change`` is None unless the bot changed during a
    ladder. Then only that many blocks count for its place.
    """

    place: int | None
    rank: tuple[int, int]
    bot: str
    score: float | None
    low: float | None
    high: float | None
    plain: float | None
    group: int | None
    matches: int
    deals: int
    won: float | None
    faults: Mapping[str, int]
    struck_out: int
    move_ms: MoveTimes
    fallback: float | None = None
    status: Status = ""
    blocks_since_change: int | None = None


@dataclass(frozen=True, slots=True)
class StopRule:
    """The ``[stop]`` rule of a cup.

    The cup ends once the ``top`` bots are separated from the rest with this ``confidence``. If that
    ended the cup, ``settled`` lists these bots in the order of the standings, except that bots
    disqualified later come last; otherwise it is empty. ``blocks`` is the number of blocks played
    by then, None if the cup did not end by this rule.
    """

    top: int
    confidence: float
    settled: tuple[str, ...]
    blocks: int | None


@dataclass(frozen=True, slots=True)
class Standings:
    """The standings of a run, with lines sorted by place, then by score, then by name.

    ``format`` is the type of the format, "" if it is not known. ``stop`` is None without a [stop].
    ``ranges`` says when the rank ranges hold, as in `Run`, but is always "anytime" if there is a
    ``duel``. ``groups`` is the number of groups (see `Standing`). ``blocks``, ``matches`` and
    ``deals`` say how many of each count. ``played`` is the number of all matches, including those
    of disqualified bots. ``course`` is None if the format has no course, and before the first
    match. ``duel`` is None unless the cup has exactly two bots, neither of them disqualified, and
    is not a ladder. ``decisions`` are the decisions about the run. ``incidents`` describes the
    decisions and the void matches in sentences.
    """

    name: str
    game: str
    format: str
    finished: bool
    stop: StopRule | None
    ranges: str
    groups: int
    blocks: int
    matches: int
    played: int
    deals: int
    course: Course | None
    duel: DuelResult | None
    standings: tuple[Standing, ...]
    decisions: tuple[AnyDecision, ...] = ()
    incidents: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the standings as JSON values, as `stich standings --json` prints them.

        ``played`` is always left out. Except for a ladder, each bot's ``status`` and
        ``blocks_since_change`` are left out too. For a finished knockout or halving, ``places`` is
        added, a list of the bots, best first.
        """
        data: dict[str, Any] = msgspec.to_builtins(self)
        del data["played"]
        if self.format in (Knockout.type, Halving.type) and self.finished:
            data["places"] = [line.bot for line in self.standings]
        if self.format != Ladder.type:
            for row in data["standings"]:
                del row["status"], row["blocks_since_change"]
        return data


class Results(Protocol):
    """A run with its finished matches: a store, a file of matches, or exported rows."""

    def run(self) -> Run:
        """Return the run, without its matches.

        Raises:
            StoreError: if a store cannot be read, or has no cup.
        """

    def summaries(self) -> Iterable[MatchSummary]:
        """Return the finished matches without their moves.

        Raises:
            StoreError: if a store cannot be read, perhaps during iteration.
        """


def standings(results: Results) -> Standings:
    """Return the standings after the matches finished so far, without disqualified bots and their
    tables. The order in which the matches ended does not change any digit.

    Raises:
        StoreError: if a store cannot be read, or has no cup.
    """
    run = results.run()
    return compute(collect(results.summaries(), run.cup.names), run)


def compute(arrays: MatchArrays, run: Run) -> Standings:
    """Return the standings of a run, without disqualified bots and their tables.

    `arrays` must have all finished matches, and list all bots of the cup, even disqualified bots
    and bots that have not played.
    """
    played, arrays = arrays, arrays.without(run.disqualified)
    format, bots, count = run.cup.format, arrays.bots, len(arrays.bots)
    ladder = isinstance(format, Ladder)
    round = draws(arrays) if ladder else arrays.round
    data = observe(arrays.block, arrays.deals, arrays.seats, arrays.scores, count, round)
    of_ladder = ladder_table(played, arrays, data) if ladder else None
    fitted = of_ladder.fitted if of_ladder else fit(data)
    # If only two bots remain after disqualifications, the run was not a duel.
    whole = bots == played.bots
    duel = duel_result(arrays, data, run) if whole and not ladder else None
    kind = run.ranges if duel is None else "anytime"
    status: Sequence[Status] = [""] * count
    since: Sequence[int | None] = [None] * count
    if duel is not None:
        pair = duel.better, duel.behind
        settled = np.array([[(row, column) == pair for column in bots] for row in bots])
    elif of_ladder:
        settled, since = of_ladder.settled, of_ladder.since
        status = statuses(arrays, data, run)
    else:
        seen = evidence(data)
        chances = final_chances(seen) if kind == "final" else anytime_chances(seen)
        settled = settled_pairs(seen.total, chances)
    groups = int(fitted.component.max(initial=-1)) + 1
    ranked = np.array([not reason for reason in status], bool)
    places = _places(arrays, played, fitted, run, ranked)
    place_of = dict(zip(bots, places, strict=True))
    shown = fitted.balanced | isinstance(format, RoundRobin)
    if duel or ladder:  # a duel has one interval, the one that decides; a ladder is looked at often
        shown[:] = False
    intervals = score_intervals(data, fitted, shown)
    columns = zip(places, _ranks(settled, ranked), intervals, status, since, strict=True)
    lines = [*_lines(arrays, data.plain, fitted, columns)]
    last = float("inf")  # for bots without a place or a score
    by_score = {line.bot: last if line.score is None else -line.score for line in lines}
    lines.sort(key=lambda line: (line.place or last, by_score[line.bot], line.bot))
    return Standings(
        name=run.cup.name,
        game=run.cup.game,
        format=format.type,
        stop=_stop_rule(run, [line.bot for line in lines], played.blocks),
        finished=run.finished,
        ranges=kind,
        groups=groups,
        blocks=arrays.blocks,
        matches=arrays.block.size,
        played=played.block.size,
        deals=int(arrays.deals.sum()),
        course=course(played, run, {bot: place_of.get(bot) or 0 for bot in played.bots}),
        duel=duel,
        standings=tuple(lines),
        decisions=run.decisions,
        incidents=tuple(run.incidents()),
    )


def _stop_rule(run: Run, bots: Sequence[str], blocks: int) -> StopRule | None:
    """Return the [stop] rule of a run, or None if the cup has none.

    `bots` are in the order of the standings. `blocks` is the number of all blocks that were played,
    including those of disqualified bots.
    """
    stop = run.cup.stop
    if stop.top is None:
        return None
    in_order = [bot for bot in bots if bot in run.settled]
    in_order += sorted(set(run.settled).difference(bots))
    # Exported rows give this number, because they may lack the blocks of disqualified bots.
    after = run.stopped_after or (blocks if run.settled else None)
    return StopRule(stop.top, stop.confidence, tuple(in_order), after)


def _ranks(settled: Booleans, ranked: Booleans) -> list[tuple[int, int]]:
    """Return each bot's first and last possible rank among the `ranked` bots, counted from 1.

    `settled` says whether the row's bot is settled above the column's bot. The range of a bot
    that is not ranked is from 1 to the number of ranked bots, or to 1 if there are none.
    """
    ranges = iter(rank_ranges(settled[np.ix_(ranked, ranked)]))
    return [next(ranges) if is_ranked else (1, max(1, int(ranked.sum()))) for is_ranked in ranked]


def _places(
    arrays: MatchArrays,
    played: MatchArrays,
    fitted: Fit,
    run: Run,
    ranked: Booleans,
) -> list[int | None]:
    """Return the place of each of `arrays.bots`, 1 for the best, or None for a bot without a place.

    `arrays` lacks the tables of disqualified bots, and `played` includes them. `ranked` says which
    bots can have a place, unless the format decides the places.
    """
    decided = _decided_places(run)
    if decided or isinstance(run.cup.format, Knockout):
        return [decided.get(bot) for bot in arrays.bots]
    if isinstance(run.cup.format, Halving):
        return _by_stage(arrays, played, fitted, run.finished)
    if fitted.component.max(initial=-1) > 0:  # groups that never met
        return [None] * len(arrays.bots)
    others = fitted.score[ranked]
    return [
        1 + int(np.count_nonzero(others > score)) if is_ranked and not np.isnan(score) else None
        for score, is_ranked in zip(fitted.score, ranked, strict=True)
    ]


def _decided_places(run: Run) -> dict[str, int]:
    """Return the places in `run.places`, which the plan decided, without disqualified bots.

    The bots behind a disqualified bot move up. Return an empty dict if nothing was decided.
    """
    places, out = run.places or {}, run.disqualified
    ahead = sorted(place for bot, place in places.items() if bot in out)
    return {
        bot: place - bisect_left(ahead, place) for bot, place in places.items() if bot not in out
    }


def _by_stage(
    arrays: MatchArrays, played: MatchArrays, fitted: Fit, finished: bool
) -> list[int | None]:
    """Return each bot's place in a halving, by the last stage that it played, then by score.

    All places are None until it is `finished`. `arrays` and `played` are as in `_places`.
    """
    if not finished:
        return [None] * len(arrays.bots)
    stage = np.zeros(len(played.bots), np.int64)
    np.maximum.at(stage, played.seats, played.round[:, np.newaxis])
    reached = stage[[played.bots.index(bot) for bot in arrays.bots]]
    # A bot whose tables do not count has no score, and comes last among the bots of its stage.
    score = np.nan_to_num(fitted.score, nan=-np.inf)
    keys = list(zip((-reached).tolist(), (-score).tolist(), strict=True))
    return [1 + sum(other < key for other in keys) for key in keys]


def _lines(
    arrays: MatchArrays,
    plain: Floats,
    fitted: Fit,
    columns: Iterable[tuple[int | None, tuple[int, int], Interval, Status, int | None]],
) -> Iterator[Standing]:
    """Yield the line of each bot, in the order of `arrays.bots`.

    `plain` has each bot's mean of points per deal. `columns` has, for each bot, the place, rank
    range, score interval, status, and number of blocks since its last change.
    """
    bots, (matches, seats) = len(arrays.bots), arrays.seats.shape
    seat = arrays.seats.ravel()
    code = np.arange(matches)[:, np.newaxis] * bots + arrays.seats
    once = np.unique(code)  # a bot may have several seats
    played = np.bincount(once % bots, minlength=bots).tolist()
    deals = np.bincount(once % bots, arrays.deals[once // bots], bots).tolist()
    struck = np.bincount(np.unique(code[arrays.struck]) % bots, minlength=bots).tolist()
    # k seats that share the highest score of a match win 1/k of it each.
    best = arrays.best
    share = np.broadcast_to(best.sum(axis=1, keepdims=True), best.shape)
    won = np.zeros((bots, seats + 1), np.int64)
    np.add.at(won, (arrays.seats[best], share[best]), 1)
    faults = [np.bincount(seat, kind.ravel(), bots) for kind in np.moveaxis(arrays.faults, -1, 0)]
    fallbacks = np.bincount(seat, arrays.fallbacks.ravel(), bots)
    unanswered = [FAULT_KINDS.index(kind) for kind in (FaultKind.TIMEOUT, FaultKind.UNREACHABLE)]
    shares = (won[:, 1:] / np.arange(1, seats + 1)).sum(axis=1)
    for bot, (place, rank, interval, status, since) in enumerate(columns):
        # Without times, as in exported rows, the number of requests is not known.
        times = arrays.times[bot]
        requests = times.size and times.size + sum(faults[kind][bot] for kind in unanswered)
        quantiles = np.quantile(times, (0.5, 0.99)).tolist() if times.size else []
        median, p99 = [round(ms, 3) for ms in quantiles] or (None, None)
        yield Standing(
            place=place,
            rank=rank,
            bot=arrays.bots[bot],
            score=float(fitted.score[bot]) if played[bot] else None,
            low=interval.low,
            high=interval.high,
            plain=float(plain[bot]) if played[bot] else None,
            group=int(fitted.component[bot]) + 1 if played[bot] else None,
            matches=played[bot],
            deals=int(deals[bot]),
            won=float(shares[bot] / played[bot]) if played[bot] else None,
            faults={str(k): int(count[bot]) for k, count in zip(FAULT_KINDS, faults, strict=True)},
            struck_out=struck[bot],
            move_ms=MoveTimes(median, p99),
            fallback=round(float(fallbacks[bot] / requests), 3) if requests else None,
            status=status,
            blocks_since_change=since,
        )
