"""The standings of a run: scores and rank ranges. `docs/statistics.md` explains each column."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, Protocol

import msgspec
import numpy as np

from tournament.formats.halving import Halving
from tournament.formats.knockout import Knockout
from tournament.formats.ladder import NEW, Ladder
from tournament.formats.round_robin import RoundRobin
from tournament.model import Run
from tournament.ranking.arrays import Booleans, Floats, Interval, Ints
from tournament.ranking.effects import Fit, fit, score_intervals
from tournament.ranking.ladder import LadderRecord
from tournament.ranking.observations import Observations, evidence, observe, renumbered
from tournament.ranking.ranks import anytime_chances, final_chances, rank_ranges, settled_pairs
from tournament.records import FAULT_KINDS, AnyDecision, FaultKind, MatchSummary
from tournament.results.course import Course, DuelResult, course, duel_result
from tournament.results.match_arrays import MatchArrays, collect

Status = Literal["", "new", "left"]


@dataclass(frozen=True, slots=True)
class MoveTimes:
    """The median and the 99th percentile of a bot's thinking times, in milliseconds, or None if no
    request was answered. Both are rounded to microseconds."""

    median: float | None
    p99: float | None


@dataclass(frozen=True, slots=True)
class Standing:
    """One bot's line in the standings. docs/statistics.md explains the columns.

    ``place`` is None for a bot that has not played, for all bots before the end of a knockout or
    halving, and in other formats if the bots form groups that never met. In a ladder it is None for
    bots whose ``status`` is "new" or "left". ``low`` and ``high`` are None in a duel or ladder,
    while a table has only one block, for a bot whose points have no spread, and, except in a
    round-robin, if tables were not played equally often.
    """

    place: int | None
    rank: tuple[int, int]  # the first and the last rank that the evidence allows
    bot: str
    score: float | None  # expected points per deal; None before the first match
    low: float | None  # the 95 % interval of the score
    high: float | None
    plain: float | None  # mean of points per deal; None before the first match
    group: int | None  # from 1; None before the first match
    matches: int
    deals: int
    won: float | None  # share of matches, from 0 to 1; None before the first match
    faults: Mapping[str, int]  # by kind
    struck_out: int  # matches
    move_ms: MoveTimes
    fallback: float | None = None  # share of moves not the bot's own; None if no answer has a time
    status: Status = ""
    blocks_since_change: int | None = None  # those that count for a bot that changed in a ladder


@dataclass(frozen=True, slots=True)
class StopRule:
    """The ``[stop]`` rule: the cup ends once the ``top`` bots are separated from the other bots."""

    top: int
    confidence: float
    settled: tuple[str, ...]  # the top bots if this ended the cup, with disqualified bots last
    blocks: int | None  # played by then; None if the cup did not end by this rule


@dataclass(frozen=True, slots=True)
class Standings:
    """The standings of a run, with lines sorted by place, then by score, then by name."""

    name: str
    game: str
    format: str  # its type, or "" if that is not known
    finished: bool
    stop: StopRule | None
    ranges: str  # when the rank ranges hold, as in `Run`, but "anytime" if there is a duel
    groups: int
    blocks: int  # that count, like `matches` and `deals`
    matches: int
    played: int  # all matches, even of disqualified bots
    deals: int
    course: Course | None  # None before the first match, and if the format has none
    duel: DuelResult | None  # if the cup, not a ladder, has two bots, neither disqualified
    standings: tuple[Standing, ...]
    decisions: tuple[AnyDecision, ...] = ()
    incidents: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the standings as JSON values, as `stich standings --json` prints them.

        ``played`` is left out and, except in a ladder, ``status`` and ``blocks_since_change`` too.
        A finished knockout or halving also has ``places``, a list of the bots, best first.
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
    """A run with its finished matches: a store, a file of matches, or exported rows.

    Its methods raise StoreError if a store cannot be read or has no cup, perhaps during iteration.
    """

    def run(self) -> Run:
        """Return the run, without its matches. Errors are as in the class."""

    def summaries(self) -> Iterable[MatchSummary]:
        """Return the finished matches without their moves. Errors are as in the class."""


def standings(results: Results) -> Standings:
    """Return the standings after the finished matches, without disqualified bots and their tables.

    Raises:
        StoreError: if a store cannot be read, or has no cup.
    """
    run = results.run()
    return compute(collect(results.summaries(), run.cup.names), run)


def compute(arrays: MatchArrays, run: Run) -> Standings:
    """Return the standings of a run, without disqualified bots and their tables.

    `arrays` must have all finished matches, and list all bots of the cup, even without matches.
    """
    played, arrays = arrays, arrays.without(run.disqualified)
    format, bots, count = run.cup.format, arrays.bots, len(arrays.bots)
    is_ladder = isinstance(format, Ladder)
    round = _draws(arrays) if is_ladder else arrays.round
    data = observe(arrays.block, arrays.deals, arrays.seats, arrays.scores, count, round)
    kind, duel = run.ranges, None
    status: Sequence[Status] = [""] * count
    since: Sequence[int | None] = [None] * count
    if is_ladder:
        status = _statuses(arrays, data, run)
        settled, fitted, since = _ladder_evidence(played, arrays, data)
    else:
        fitted = fit(data)
        # If only two bots remain after disqualifications, the run was not a duel.
        duel = duel_result(arrays, data, run) if bots == played.bots else None
        if duel is not None:
            kind, pair = "anytime", (duel.better, duel.behind)
            settled = np.array([[(row, column) == pair for column in bots] for row in bots])
        else:
            seen = evidence(data)
            chances = final_chances(seen) if kind == "final" else anytime_chances(seen)
            settled = settled_pairs(seen.total, chances)
    ranked = np.array([not reason for reason in status], bool)
    places = _places(arrays, played, fitted, run, ranked)
    place_of = dict(zip(bots, places, strict=True))
    shown = fitted.balanced | isinstance(format, RoundRobin)
    if duel or is_ladder:  # it has one interval, which decides; and it is looked at often
        shown[:] = False
    intervals = score_intervals(data, fitted, shown)
    columns = zip(places, _ranks(settled, ranked), intervals, status, since, strict=True)
    lines = sorted(_lines(arrays, data.plain, fitted, columns), key=_in_order)
    return Standings(
        name=run.cup.name,
        game=run.cup.game,
        format=format.type,
        stop=_stop_rule(run, [line.bot for line in lines], played.blocks),
        finished=run.finished,
        ranges=kind,
        groups=int(fitted.component.max(initial=-1)) + 1,
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


def _statuses(arrays: MatchArrays, data: Observations, run: Run) -> list[Status]:
    """Return the status of each bot of a ladder, in the order of `arrays.bots`.

    The status is "new" if the bot still plays but has played fewer than ten blocks. Otherwise it is
    "left" if the bot no longer plays or, in exported rows, has no place. It is "" for all others.
    `data` must be the observations of `arrays`.
    """
    blocks = dict(zip(arrays.bots, np.bincount(data.bot, minlength=data.bots), strict=True))
    left = run.gone | run.unplaced
    return [
        "new" if count < NEW and bot not in run.gone else "left" if bot in left else ""
        for bot, count in blocks.items()
    ]


def _draws(arrays: MatchArrays) -> Ints:
    """Return, for each match, a number for the draw that its table comes from.

    All tables of a stage come from the same draw. Without a stage, each block has its own draw.
    """
    unnamed = np.array([not stage for stage in arrays.stages], bool)[arrays.stage]
    numbers: Ints = np.where(unnamed, len(arrays.stages) + arrays.block, arrays.stage)
    return numbers


def _ladder_evidence(
    played: MatchArrays, arrays: MatchArrays, data: Observations
) -> tuple[Booleans, Fit, list[int | None]]:
    """Return what the blocks of a ladder show about the n bots of `arrays`: an (n, n) array that
    says whether the row's bot is settled above the column's, the scores since each bot's last
    change, and the number of blocks since then, or None if there are none.

    `played` has all matches, even those of disqualified bots, and `arrays` the matches that
    count. In both, rounds are epochs. `data` must be the observations of `arrays`, with `_draws`
    as rounds. A bot arrives with its first block in `played`, even if that block does not count.
    """
    number_in_record = np.array([played.bots.index(bot) for bot in arrays.bots], np.int64)
    record = LadderRecord(len(played.bots))
    seats = np.sort(played.seats, axis=1)
    epoch = np.zeros(data.blocks, np.int64)
    epoch[arrays.block] = arrays.round
    entries = _by_epoch(epoch[data.block])
    version = np.zeros(data.block.size, np.int64)
    in_order = np.concatenate([np.zeros(0, np.int64), *entries.values()])
    for number, matches in _by_epoch(played.round).items():
        record.arrive(seats[matches].ravel())
        of_epoch = entries.get(number)
        if of_epoch is not None:
            block = np.unique(data.block[of_epoch], return_inverse=True)[1]
            record.add(
                block,
                number_in_record[data.bot[of_epoch]],
                data.points[of_epoch],
                data.round[data.block[of_epoch]],
            )
    version[in_order] = record.versions()
    versions = renumbered(data, version, 1 + int(record.version.max(initial=-1)))
    blocks = np.bincount(versions.bot, minlength=versions.bots)[record.version]
    since = np.where(record.changed, blocks, 0)[number_in_record]
    settled = record.settled()[np.ix_(number_in_record, number_in_record)]
    last = record.version[number_in_record]
    del record  # before the fit, which takes as much memory
    return settled, fit(versions).of(last), [count or None for count in since.tolist()]


def _by_epoch(epoch: Ints) -> dict[int, Ints]:
    """Return the indices at which each epoch occurs in `epoch`, keyed by epoch, lowest first."""
    order = np.argsort(epoch, kind="stable")
    numbers, first = np.unique(epoch[order], return_index=True)
    return dict(zip(numbers.tolist(), np.split(order, first)[1:], strict=True))


def _in_order(line: Standing) -> tuple[float, float, str]:
    return line.place or inf, inf if line.score is None else -line.score, line.bot


def _stop_rule(run: Run, bots: Sequence[str], blocks: int) -> StopRule | None:
    stop = run.cup.stop
    if stop.top is None:
        return None
    in_order = [bot for bot in bots if bot in run.settled]
    in_order += sorted(set(run.settled).difference(bots))
    # Exported rows give this number, because they may lack the blocks of disqualified bots.
    after = run.stopped_after or (blocks if run.settled else None)
    return StopRule(stop.top, stop.confidence, tuple(in_order), after)


def _ranks(settled: Booleans, ranked: Booleans) -> list[tuple[int, int]]:
    ranges = iter(rank_ranges(settled[np.ix_(ranked, ranked)]))
    return [next(ranges) if is_ranked else (1, max(1, int(ranked.sum()))) for is_ranked in ranked]


def _places(
    arrays: MatchArrays, played: MatchArrays, fitted: Fit, run: Run, ranked: Booleans
) -> list[int | None]:
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
    """Return the places that the plan decided, keyed by bot. Disqualified bots are left out, and
    the bots behind them move up."""
    places, out = run.places or {}, run.disqualified
    ahead = sorted(place for bot, place in places.items() if bot in out)
    return {
        bot: place - bisect_left(ahead, place) for bot, place in places.items() if bot not in out
    }


def _by_stage(
    arrays: MatchArrays, played: MatchArrays, fitted: Fit, finished: bool
) -> list[int | None]:
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
