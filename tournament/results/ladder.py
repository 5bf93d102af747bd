"""The table of a ladder: who has a place, and who is settled above whom."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from tournament.decisions import absent, decided
from tournament.formats.ladder import NEW
from tournament.ranking.arrays import Booleans, Ints
from tournament.ranking.evidence import drawn_evidence
from tournament.ranking.observations import Observations
from tournament.ranking.ranks import settled_by_arrival
from tournament.results.match_arrays import MatchArrays

Status = Literal["", "new", "left"]


def statuses(arrays: MatchArrays, data: Observations, facts: Mapping[str, Any]) -> list[Status]:
    """Why each bot has no place: it has fewer than ten blocks, or plays no more; "" for the others.

    ``facts["decisions"]`` say who plays no more; an export, which has none, lists under ``left``
    who has no place.
    """
    gone = absent(decided(facts))
    blocks = np.bincount(data.bot, minlength=data.bots).tolist()

    def status(bot: str, count: int) -> Status:
        if count < NEW and bot not in gone:
            return "new"
        return "left" if bot in gone.union(facts.get("left", ())) else ""

    return [status(bot, count) for bot, count in zip(arrays.bots, blocks, strict=True)]


def draws(arrays: MatchArrays) -> Ints:
    """The draw of each match: its stage, or its block alone where there is no stage."""
    unnamed = np.array([not stage for stage in arrays.stages], bool)[arrays.stage]
    answer: Ints = np.where(unnamed, len(arrays.stages) + arrays.block, arrays.stage)
    return answer


def settled_in_ladder(played: MatchArrays, bots: Sequence[str], data: Observations) -> Booleans:
    """Which of these bots are settled above which; the rounds of ``data`` are `draws`.

    Bots arrive with their first block, in ``played`` also those whose tables do not count later:
    the arrival of the others does not change when a bot is disqualified. Names that joined and
    never played do not count.
    """
    first = np.full(len(played.bots), played.blocks)
    np.minimum.at(first, played.seats, played.block[:, np.newaxis])
    order = [played.bots[bot] for bot in np.argsort(first, kind="stable")]
    arrival = np.array([1 + order.index(bot) for bot in bots], np.int64)
    return settled_by_arrival(drawn_evidence(data), arrival)
