"""The table of a run: read from the store, computed, shown.

``docs/statistics.md`` says what each column means.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.table import Table
from rich.text import Text

from tournament.records import FaultKind, MatchSummary
from tournament.results.bootstrap import (
    UNKNOWN,
    Interval,
    Ints,
    Sample,
    rank_ranges,
    score_intervals,
)
from tournament.results.ratings import Rating, compare, ratings
from tournament.text import plural, printable

KINDS = tuple(str(kind) for kind in FaultKind)
# A share of a match is a whole number of these, whoever shares it among up to six seats.
_SHARES = 60


class Source(Protocol):
    """What standings read of a store."""

    def facts(self) -> dict[str, Any]:
        """What the run is."""

    def summaries(self) -> Iterable[MatchSummary]:
        """The finished matches."""


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


@dataclass(frozen=True)
class Results:
    """The finished matches in columns, sorted by block and seating.

    A row a match: ``block`` (numbered from 0 without gaps), ``deals``; a row a match and a
    column a seat: ``seats`` (number of the bot in ``bots``), ``scores`` (after the strike-out
    rule), ``sides`` (equal for seats of one side), ``struck``, and with a last axis by kind
    ``faults``. ``times`` are a bot's thinking times in milliseconds.
    """

    bots: tuple[str, ...]
    block: Ints
    deals: Ints
    seats: Ints
    scores: Ints
    sides: Ints
    struck: NDArray[np.bool_]
    faults: Ints
    times: tuple[NDArray[np.float32], ...]

    @property
    def blocks(self) -> int:
        """How many blocks have a finished match."""
        return int(self.block[-1]) + 1 if self.block.size else 0


def standings(store: Source) -> Standings:
    """The table as it is now, from the store alone.

    The order in which matches ended plays no part: any order gives the same digits.
    """
    facts = store.facts()
    return of(collect(store.summaries(), facts.get("bots", ())), facts)


def of(results: Results, facts: Mapping[str, Any]) -> Standings:
    """The table of these matches, with what the run is."""
    return Standings(
        name=str(facts.get("name", "")),
        game=str(facts.get("game", "")),
        finished=bool(facts.get("finished", False)),
        blocks=results.blocks,
        matches=results.block.size,
        deals=int(results.deals.sum()),
        standings=tuple(table(results, str(facts.get("seed", "")))),
    )


def collect(summaries: Iterable[MatchSummary], bots: Sequence[str] = ()) -> Results:
    """Columns from summaries in any order. ``bots`` are listed even before they have played."""
    number = {bot: at for at, bot in enumerate(bots)}
    keys: list[tuple[int, int]] = []
    deals: list[int] = []
    seats: list[list[int]] = []
    scores: list[tuple[int, ...]] = []
    sides: list[Sequence[int]] = []
    struck: list[tuple[int, tuple[int, ...]]] = []
    faults: list[tuple[int, tuple[tuple[int, ...], ...]]] = []
    times: list[array[float]] = [array("f") for _ in number]
    for at, match in enumerate(summaries):
        row = []
        for bot, thought in zip(match.seating, match.times, strict=True):
            if bot not in number:
                number[bot] = len(number)
                times.append(array("f"))
            row.append(number[bot])
            times[number[bot]].extend(thought)
        keys.append((match.block, match.number))
        deals.append(match.deals)
        seats.append(row)
        scores.append(match.adjusted)
        sides.append(range(len(row)) if match.sides is None else match.sides)
        if match.struck:
            struck.append((at, match.struck))
        if any(map(any, match.faults)):
            faults.append((at, match.faults))
    # Numbers by name, so that a bot's place does not depend on who was met first.
    names = tuple(sorted(number))
    renamed = np.array([names.index(bot) for bot in number], dtype=np.int64)
    shape = (len(keys), len(seats[0]) if seats else 0)
    out = np.zeros(shape, dtype=bool)
    for at, who in struck:
        out[at, list(who)] = True
    counts = np.zeros((*shape, len(KINDS)), dtype=np.int64)
    for at, by_seat in faults:
        counts[at] = by_seat
    place = np.array(keys, dtype=np.int64).reshape(-1, 2)
    order = np.lexsort((place[:, 1], place[:, 0]))
    block = np.unique(place[order, 0], return_inverse=True)[1].astype(np.int64)
    by_name = sorted(number, key=names.index)
    return Results(
        bots=names,
        block=block,
        deals=np.array(deals, dtype=np.int64)[order],
        seats=renamed[np.array(seats, dtype=np.int64).reshape(shape)[order]],
        scores=np.array(scores, dtype=np.int64).reshape(shape)[order],
        sides=np.array(sides, dtype=np.int64).reshape(shape)[order],
        struck=out[order],
        faults=counts[order],
        times=tuple(np.frombuffer(times[number[bot]], dtype=np.float32) for bot in by_name),
    )


def table(results: Results, seed: str) -> list[Standing]:
    """The lines of the table, best first; ``seed`` is the run's."""
    samples = [_sample(results, bot) for bot in range(len(results.bots))]
    played = [bot for bot, sample in enumerate(samples) if sample is not None]
    intervals = [UNKNOWN] * len(results.bots)
    found = score_intervals([s for s in samples if s is not None], seed)
    for bot, interval in zip(played, found, strict=True):
        intervals[bot] = interval
    scores = [None if sample is None else sample.score for sample in samples]
    ranks = rank_ranges(intervals)
    rated: dict[int, Rating] = dict(zip(played, _rate(results, samples, seed), strict=True))
    lines = [
        _standing(results, bot, scores[bot], intervals[bot], ranks[bot], rated.get(bot))
        for bot in range(len(results.bots))
    ]
    return sorted(lines, key=lambda line: (line.score is None, -(line.score or 0.0), line.bot))


def _standing(
    results: Results,
    bot: int,
    score: float | None,
    interval: Interval,
    rank: tuple[int, int],
    rating: Rating | None,
) -> Standing:
    sits = results.seats == bot
    there = sits.any(axis=1)
    matches = int(there.sum())
    faults = results.faults[sits].sum(axis=0)
    return Standing(
        rank=rank,
        bot=results.bots[bot],
        score=score,
        low=interval.low,
        high=interval.high,
        rating=None if rating is None else rating.value,
        rating_low=None if rating is None else rating.interval.low,
        rating_high=None if rating is None else rating.interval.high,
        matches=matches,
        deals=int(results.deals[there].sum()),
        won=_won(results, sits) / (_SHARES * matches) if matches else None,
        faults={kind: int(count) for kind, count in zip(KINDS, faults, strict=True)},
        struck_out=int((results.struck & sits).any(axis=1).sum()),
        move_ms=_move_times(results.times[bot]),
    )


def _rate(results: Results, samples: Sequence[Sample | None], seed: str) -> list[Rating]:
    """The ratings of the bots that have played, in order."""
    played = np.unique(results.seats)
    seats = np.searchsorted(played, results.seats)
    blocks = [sample.deals.size for sample in samples if sample is not None]
    compared = compare(seats, results.scores, results.sides, results.block, played.size)
    return ratings(compared, blocks, seed)


def _sample(results: Results, bot: int) -> Sample | None:
    sits = results.seats == bot
    seats = sits.sum(axis=1)
    there = seats > 0
    if not there.any():
        return None
    points = (results.scores * sits).sum(axis=1)[there]
    deals = (results.deals * seats)[there]
    _, at = np.unique(results.block[there], return_inverse=True)
    # Whole numbers below 2**53, so adding them as floats is exact.
    totals = np.bincount(at, weights=points).astype(np.int64)
    weights = np.bincount(at, weights=deals).astype(np.int64)
    score = int(totals.sum()) / int(weights.sum())
    a_deal = results.scores[there] / results.deals[there][:, np.newaxis]
    return Sample(totals, weights, float(np.abs(a_deal - score).max()))


def _won(results: Results, sits: NDArray[np.bool_]) -> int:
    """Matches won in sixtieths; who shares the highest total shares the match."""
    best = results.scores == results.scores.max(axis=1, keepdims=True, initial=-(2**62))
    shares = _SHARES // np.maximum(best.sum(axis=1), 1)
    return int((shares[:, np.newaxis] * (best & sits)).sum())


def _move_times(times: NDArray[np.float32]) -> MoveTimes:
    if not times.size:
        return MoveTimes(None, None)
    median, p99 = np.quantile(times.astype(np.float64), [0.5, 0.99])
    return MoveTimes(round(float(median), 3), round(float(p99), 3))


def render(what: Standings, total: int | None = None) -> Table:
    """The table for a terminal. ``total`` is how many matches are planned."""
    state = "final" if what.finished else "so far"
    matches = plural(what.matches, "match", "matches")
    if total and not what.finished:
        matches = f"{what.matches} of {plural(total, 'match', 'matches')}"
    shown = Table(
        title=Text(f"{printable(what.name)}: {what.game}, {state}", style="bold"),
        caption=(
            f"{matches}, {plural(what.deals, 'deal')}, {plural(what.blocks, 'block')}. "
            "In brackets 95 % intervals (bootstrap over blocks). A range of ranks: their "
            "intervals do not settle the order. Time: median and 99th percentile."
        ),
        box=box.SIMPLE_HEAD,
        caption_justify="left",
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    headings = {"Rank": 4, "Bot": 8, "Points a deal": 14, "Rating": 12, "Won": 4, "Faults": 4}
    for heading, narrowest in (headings | {"ms a move": 5}).items():
        shown.add_column(
            heading,
            justify="left" if heading == "Bot" else "right",
            min_width=narrowest,
            overflow="fold",
        )
    for line in what.standings:
        shown.add_row(
            span(line.rank),
            Text(line.bot),
            Text(points(line)),
            Text(elo(line)),
            "–" if line.won is None else f"{line.won:.0%}",
            Text(counted(line)),
            Text(pace(line.move_ms)),
        )
    return shown


def span(rank: tuple[int, int]) -> str:
    """A range of ranks as people write it: 2 or 2–4."""
    return str(rank[0]) if rank[0] == rank[1] else f"{rank[0]}–{rank[1]}"


def points(line: Standing) -> str:
    """Score and interval: +0.91 [0.55…1.27]."""
    if line.score is None:
        return "–"
    return f"{line.score:+.2f} {_between(line.low, line.high, '.2f')}"


def elo(line: Standing) -> str:
    """Rating and interval: 1588 [1561…1616]."""
    if line.rating is None:
        return "–"
    return f"{line.rating:.0f} {_between(line.rating_low, line.rating_high, '.0f')}"


def counted(line: Standing) -> str:
    """How many faults, and in how many matches the bot was struck out: 15 (out 2)."""
    faults = sum(line.faults.values())
    said = f"{faults} (out {line.struck_out})" if line.struck_out else str(faults)
    return said if faults else "–"


def blamed(line: Standing) -> str:
    """Faults by kind, and matches the bot was struck out of: 3 timeout, 12 illegal, out 2×."""
    said = [f"{count} {kind}" for kind, count in line.faults.items() if count]
    if line.struck_out:
        said.append(f"out {line.struck_out}×")
    return ", ".join(said) or "–"


def pace(times: MoveTimes) -> str:
    """Median and 99th percentile: 3.1/9.8."""
    if times.median is None or times.p99 is None:
        return "–"
    return f"{times.median:.1f}/{times.p99:.1f}"


def _between(low: float | None, high: float | None, how: str) -> str:
    if low is None or high is None:
        return "[?…?]"
    return f"[{low:{how}}…{high:{how}}]"
