"""The standings of a run: scores, ratings and rank ranges, computed from its matches.

``docs/statistics.md`` says what each column means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tournament.records import FAULT_KINDS, RunRecords
from tournament.results.bootstrap import (
    UNKNOWN,
    Interval,
    Sample,
    rank_ranges,
    score_intervals,
)
from tournament.results.match_arrays import MatchArrays, collect
from tournament.results.ratings import Rating, compare, ratings

# A share of a match is a whole number of these, whoever shares it among up to six seats.
_SHARES = 60


@dataclass(frozen=True, slots=True)
class MoveTimes:
    """Thinking time of the requests that brought an answer, milliseconds; None without any."""

    median: float | None
    p99: float | None


@dataclass(frozen=True, slots=True)
class Standing:
    """One line of the table; the fields of `stich standings --json`.

    ``score`` is points a deal and ``won`` a share from 0 to 1; these and ``rating`` are None
    before the bot's first match. ``low`` to ``high`` and ``rating_low`` to ``rating_high`` are
    95 % intervals, None where the data cannot tell (fewer than two blocks).
    """

    rank: tuple[int, int]
    bot: str
    score: float | None
    low: float | None
    high: float | None
    rating: float | None
    rating_low: float | None
    rating_high: float | None
    matches: int
    deals: int
    won: float | None
    faults: Mapping[str, int]
    struck_out: int
    move_ms: MoveTimes


@dataclass(frozen=True, slots=True)
class Standings:
    """The table and what it is of. ``standings`` is best first, equal scores by name."""

    name: str
    game: str
    finished: bool
    blocks: int
    matches: int
    deals: int
    standings: tuple[Standing, ...]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON, as `stich standings --json` prints it."""
        data = asdict(self)
        data["standings"] = [
            {**row, "rank": list(row["rank"]), "faults": dict(row["faults"])}
            for row in data["standings"]
        ]
        return data


def standings(store: RunRecords) -> Standings:
    """The table of the matches finished so far.

    It does not depend on the order in which they ended, to the last digit.
    """
    facts = store.facts()
    return compute(collect(store.summaries(), facts.get("bots", ())), facts)


def compute(arrays: MatchArrays, facts: Mapping[str, Any]) -> Standings:
    """The table of these matches; `facts` are those of the run."""
    return Standings(
        name=str(facts.get("name", "")),
        game=str(facts.get("game", "")),
        finished=bool(facts.get("finished", False)),
        blocks=arrays.blocks,
        matches=arrays.block.size,
        deals=int(arrays.deals.sum()),
        standings=tuple(_lines(arrays, str(facts.get("seed", "")))),
    )


def _lines(arrays: MatchArrays, seed: str) -> list[Standing]:
    """The lines of the table, best first; ``seed`` is the run's."""
    samples = [_sample(arrays, bot) for bot in range(len(arrays.bots))]
    played = [bot for bot, sample in enumerate(samples) if sample is not None]
    intervals = [UNKNOWN] * len(arrays.bots)
    found = score_intervals([s for s in samples if s is not None], seed)
    for bot, interval in zip(played, found, strict=True):
        intervals[bot] = interval
    scores = [None if sample is None else sample.score for sample in samples]
    ranks = rank_ranges(intervals)
    rated: dict[int, Rating] = dict(zip(played, _rate(arrays, samples, seed), strict=True))
    lines = [
        _standing(arrays, bot, scores[bot], intervals[bot], ranks[bot], rated.get(bot))
        for bot in range(len(arrays.bots))
    ]
    return sorted(lines, key=lambda line: (line.score is None, -(line.score or 0.0), line.bot))


def _standing(
    arrays: MatchArrays,
    bot: int,
    score: float | None,
    interval: Interval,
    rank: tuple[int, int],
    rating: Rating | None,
) -> Standing:
    sits = arrays.seats == bot
    there = sits.any(axis=1)
    matches = int(there.sum())
    faults = arrays.faults[sits].sum(axis=0)
    return Standing(
        rank=rank,
        bot=arrays.bots[bot],
        score=score,
        low=interval.low,
        high=interval.high,
        rating=None if rating is None else rating.value,
        rating_low=None if rating is None else rating.interval.low,
        rating_high=None if rating is None else rating.interval.high,
        matches=matches,
        deals=int(arrays.deals[there].sum()),
        won=_won(arrays, sits) / (_SHARES * matches) if matches else None,
        faults={str(kind): int(count) for kind, count in zip(FAULT_KINDS, faults, strict=True)},
        struck_out=int((arrays.struck & sits).any(axis=1).sum()),
        move_ms=_move_times(arrays.times[bot]),
    )


def _rate(arrays: MatchArrays, samples: Sequence[Sample | None], seed: str) -> list[Rating]:
    """The ratings of the bots that have played, in order."""
    played = np.unique(arrays.seats)
    seats = np.searchsorted(played, arrays.seats)
    blocks = [sample.deals.size for sample in samples if sample is not None]
    compared = compare(seats, arrays.scores, arrays.sides, arrays.block, played.size)
    return ratings(compared, blocks, seed)


def _sample(arrays: MatchArrays, bot: int) -> Sample | None:
    sits = arrays.seats == bot
    seats = sits.sum(axis=1)
    there = seats > 0
    if not there.any():
        return None
    points = (arrays.scores * sits).sum(axis=1)[there]
    deals = (arrays.deals * seats)[there]
    _, at = np.unique(arrays.block[there], return_inverse=True)
    # Whole numbers below 2**53, so adding them as floats is exact.
    totals = np.bincount(at, weights=points).astype(np.int64)
    weights = np.bincount(at, weights=deals).astype(np.int64)
    score = int(totals.sum()) / int(weights.sum())
    a_deal = arrays.scores[there] / arrays.deals[there][:, np.newaxis]
    return Sample(totals, weights, float(np.abs(a_deal - score).max()))


def _won(arrays: MatchArrays, sits: NDArray[np.bool_]) -> int:
    """Matches won in sixtieths; who shares the highest total shares the match."""
    best = arrays.scores == arrays.scores.max(axis=1, keepdims=True, initial=-(2**62))
    shares = _SHARES // np.maximum(best.sum(axis=1), 1)
    return int((shares[:, np.newaxis] * (best & sits)).sum())


def _move_times(times: NDArray[np.float32]) -> MoveTimes:
    if not times.size:
        return MoveTimes(None, None)
    median, p99 = np.quantile(times.astype(np.float64), [0.5, 0.99])
    return MoveTimes(round(float(median), 3), round(float(p99), 3))
