"""Whether what comes back from a worker belongs to the job that was asked for."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from tournament.cluster.tables import Played
from tournament.config import Cup
from tournament.match.match import Pairing
from tournament.run.executor import Job
from tournament.run.table import pairing_of

_PLACE = tuple(field.name for field in fields(Pairing))
_PLACE_OF_VOID = ("match", "block", "key", "round", "number", "seating")


class WrongResult(Exception):
    """A match that was not asked for; the text is a clause that says what is wrong with it."""


def check(cup: Cup, job: Job, played: Played) -> None:
    """WrongResult if these are not matches of this job, each once."""
    found: list[tuple[Any, tuple[str, ...]]] = [(record, _PLACE) for record in played.records]
    if played.void is not None:
        found.append((played.void, _PLACE_OF_VOID))
    numbers = [one.number for one, _ in found]
    if not set(numbers) <= set(job.numbers) or len(set(numbers)) < len(numbers):
        raise WrongResult(f"it has no such matches: {numbers}")
    for one, names in found:
        asked = pairing_of(job.block, one.number)
        for name in names:
            if getattr(one, name) != getattr(asked, name):
                raise WrongResult(f"{name} of match {asked.match} is another one")
    for record in played.records:
        if (record.game, record.players, dict(record.options)) != (
            cup.game,
            cup.players,
            dict(cup.options),
        ):
            raise WrongResult(f"match {record.match} is of another game")
        by_seat = (record.scores, record.adjusted, record.times, record.outputs)
        seats = {*record.struck, *(fault.seat for fault in record.faults)}
        if {len(values) for values in by_seat} != {cup.players} or not seats <= set(
            range(cup.players)
        ):
            raise WrongResult(f"match {record.match} is of another number of seats")
