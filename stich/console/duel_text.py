"""What a duel has shown, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tournament.results.duel import DuelResult
from tournament.text import plural, printable


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
