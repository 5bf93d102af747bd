"""Matches that a worker sends must belong to its job."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.support.tournament import played
from tournament.cluster.executor import check
from tournament.cluster.tables import Played
from tournament.records import MatchRecord, Outage, place_of
from tournament.run.workers.executor import Finished, Job, RunError, Voided

CUP = played.cup()
RECORDS = tuple(played.played(CUP, {"ann": 5}))[:3]
JOB = Job(played.first_block(CUP), (0, 1, 2))


def void(**changes: Any) -> Outage:
    outage = {"bot": "ann", "why": "It was away.", "started": "2026", "ended": "2027"}
    return Outage(**{**place_of(JOB.block.pairing(1)), **outage, **changes})


def events(answer: Sequence[MatchRecord | Outage]) -> Played:
    return [
        Voided(record) if isinstance(record, Outage) else Finished(record, last=at == len(answer))
        for at, record in enumerate(answer, 1)
    ]


OTHERS: dict[str, Any] = {"number": 7, "match": "other", "seed": "other", "seating": ("cat",) * 3}
OTHERS |= {"block": 9, "game": "dasan", "options": {"deals": 7}, "scores": (0, 0), "struck": (3,)}
WRONG: dict[str, Played] = {
    **{key: events([replace(RECORDS[0], **{key: OTHERS[key]}), *RECORDS[1:]]) for key in OTHERS},
    "twice": events([*RECORDS, RECORDS[0]]),
    "number of a void match": events([void(number=7)]),
    "id of a void match": events([void(match="another")]),
    "played and void": events([*RECORDS, void()]),
    "after a void match": events([void(), RECORDS[2]]),
    "no last match": list(map(Finished, RECORDS, (False, False))),
    "two last matches": list(map(Finished, RECORDS, (True, True))),
    "the first match is the last": list(map(Finished, RECORDS, (True, False))),
}


@pytest.mark.parametrize("what", WRONG)
def test_an_answer_that_was_not_asked_for_is_refused(what: str) -> None:
    with pytest.raises(RunError, match="does not belong"):
        check(CUP, JOB, WRONG[what])


@pytest.mark.parametrize("answer", [[*RECORDS], [RECORDS[0], void()], []])
def test_a_part_of_a_job_is_enough(answer: list[MatchRecord | Outage]) -> None:
    check(CUP, JOB, events(answer))
