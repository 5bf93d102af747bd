"""What a duel has shown: its numbers, and the sentences that say what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tournament.ranking.betting import mean_difference
from tournament.ranking.observations import Observations
from tournament.ranking.rank_ranges import Settled
from tournament.results.match_arrays import MatchArrays
from tournament.text import plural, printable

_DIGITS = 9


@dataclass(frozen=True, slots=True)
class DuelResult:
    """What the complete blocks of two bots tell; the field ``duel`` of ``stich standings --json``.

    ``ahead`` has more points a deal in the mean of these ``blocks`` than ``behind``: by
    ``difference``, which is 0 where they are equal. ``low`` to ``high`` is its 95 % interval, which
    holds at every look; None where nothing can be said. ``better`` is ``ahead`` if the interval
    excludes 0. ``max_difference`` is the most by which a block is supposed to differ, None for 50
    times the average.
    """

    ahead: str
    behind: str
    difference: float
    low: float | None
    high: float | None
    better: str | None
    blocks: int
    max_difference: int | None

    def equal(self, within: float | None) -> bool:
        """Whether no difference beyond ``within`` points a deal is left; False without one."""
        if within is None or self.low is None or self.high is None:
            return False
        return -within <= self.low and self.high <= within


def duel_result(arrays: MatchArrays, data: Observations, limit: int | None) -> DuelResult | None:
    """The duel of the only two bots, by the blocks that are complete; None for any other run.

    A part of a block is not mirrored, so its seats and cards may favour one of them.
    """
    if len(arrays.bots) != 2:
        return None
    complete = np.zeros(data.blocks, bool)
    complete[arrays.block] = arrays.complete
    points = data.points[complete & (data.deals > 0).all(axis=1)]
    found = mean_difference(points[:, 0] - points[:, 1], limit)
    ends = [
        None if end is None else round(end, _DIGITS)
        for end in (found.interval.low, found.interval.high)
    ]
    ahead, behind = arrays.bots
    if found.mean < 0:
        ahead, behind = behind, ahead
        ends = [None if end is None else 0.0 - end for end in reversed(ends)]
    return DuelResult(
        ahead=ahead,
        behind=behind,
        difference=round(abs(found.mean), _DIGITS),
        low=ends[0],
        high=ends[1],
        better=ahead if found.settled else None,
        blocks=len(points),
        max_difference=limit,
    )


def settled_by(duel: DuelResult, bots: Sequence[str]) -> Settled:
    """Which of the two bots (rows) is settled above which (columns)."""
    settled = np.zeros((2, 2), bool)
    if duel.better is not None:
        settled[bots.index(duel.better), bots.index(duel.behind)] = True
    return settled


def duel_sentences(
    duel: DuelResult, scores: Mapping[str, float | None], facts: Mapping[str, Any]
) -> Iterator[str]:
    """Who is better, by how much, with what interval, and what these claim.

    ``scores`` are those of the table, ``facts`` those of the run.
    """
    format = facts.get("config", {}).get("format", {})
    within, planned = format.get("within"), format.get("deals")
    ahead, behind = printable(duel.ahead), printable(duel.behind)
    blocks = plural(duel.blocks, "block")
    played = f"{duel.blocks} of {plural(planned, 'block')}" if planned else blocks
    known = duel.low is not None and duel.high is not None
    interval = f"95 % interval {duel.low:.2f} to {duel.high:.2f}" if known else "no interval yet"
    lead = f"{ahead} has {duel.difference:.2f} points a deal more than {behind}"
    if not duel.difference:
        lead = f"{ahead} and {behind} have equally many points"
    if duel.better is not None:
        yield (
            f"Decided after {played}: {ahead} is better than {behind}, by {duel.difference:.2f}"
            f" points a deal ({interval})."
        )
    elif duel.equal(within):
        yield f"No difference beyond {within:g} points a deal after {played}: {lead} ({interval})."
    elif facts.get("finished") and planned:
        yield (
            f"Not decided: all {blocks} are played. {lead}, but it may be chance ({interval})."
            " More --deals may decide it."
        )
    else:
        yield f"Not decided after {played}: {lead}, but it may be chance ({interval})."
    own, other = scores[duel.ahead], scores[duel.behind]
    if own is not None and other is not None and own < other:
        yield (
            f"Counted by deals, {behind} has more, and so the better place: the difference counts"
            " every block alike, the table every deal."
        )
    reach = "50 times the average"
    if duel.max_difference is not None:
        reach = f"{plural(duel.max_difference, 'point')} a deal"
    yield (
        "The interval is of the mean difference in a block. In 95 of 100 duels it holds at every"
        f" look, however skewed the points, if no block differs by more than {reach}."
    )
