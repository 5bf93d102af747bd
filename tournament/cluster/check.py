"""Whether what comes back from a worker belongs to the job that was asked for."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from tournament.cluster.tables import Played
from tournament.config import Cup
from tournament.run.executor import Job, RunError
from tournament.run.table import pairing_of

_OF_VOID = ("match", "block", "key", "round", "seating")


def check(cup: Cup, job: Job, played: Played) -> None:
    """RunError if these are not matches of this job, each once."""
    numbers = [record.number for record in played.records]
    numbers += [void.number for void in played.voids]
    valid = set(numbers) <= set(job.numbers) and len(set(numbers)) == len(numbers)
    for record in played.records if valid else ():
        asked: dict[str, Any] = asdict(pairing_of(job.block, record.number))
        asked |= {"game": cup.game, "players": cup.players, "options": cup.options}
        valid &= record == replace(record, **asked)
        by_seat = (record.scores, record.adjusted, record.times, record.outputs)
        valid &= {len(values) for values in by_seat} == {cup.players}
        seats = {*record.struck, *(fault.seat for fault in record.faults)}
        valid &= seats <= set(range(cup.players))
    for void in played.voids if valid else ():
        asked = asdict(pairing_of(job.block, void.number))
        valid &= void == replace(void, **{name: asked[name] for name in _OF_VOID})
    if not valid:
        raise RunError(
            f"What a worker sent for block {job.block.number} does not belong to it. What is"
            " finished is kept; see the workers' logs."
        )
