"""What a duel has shown, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import games
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
    interval = "unproved"
    if duel.low is not None and duel.high is not None:
        interval = f"95 % interval {duel.low:.2f} to {duel.high:.2f}"
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
    if duel.low is None or duel.high is None:
        yield (
            "Unproved: it is not known by how much a block can differ, so no number of blocks rules"
            " out a rare large loss. max_difference in the rows says it, if no block goes beyond."
        )
        return
    yield (
        "The interval is of the mean difference in a block. In 95 of 100 duels it holds at every"
        f" look, however skewed the points, {_supposed(duel, facts)}."
    )


def _supposed(duel: DuelResult, facts: Mapping[str, Any]) -> str:
    """What the claim rests on."""
    most = duel.max_difference or 0
    game = games.GAMES.get(str(facts.get("game")))
    if game is None or game.bounded:
        return f"as no block can differ by more than {plural(most, 'point')} a deal"
    return (
        f"if what blocks differ by beyond {most / 3:g} points a deal moves the mean by less than"
        " 0.02 standard deviations"
    )
