"""Matches that a worker sends back belong to the block that it was asked for."""

from dataclasses import replace
from typing import Any

import pytest

from tests.tournament import played
from tests.tournament.memory_run import MemoryRun
from tournament.cluster.executor import check
from tournament.cluster.tables import Played
from tournament.formats.round_scores import RoundScores
from tournament.records import MatchRecord, VoidRecord
from tournament.run.executor import Job, RunError

CUP = played.cup()
RECORDS = tuple(played.played(CUP, {"ann": 5}))[:3]
PLAN = played.schedule(CUP)
(ROUND,) = PLAN.rounds(RoundScores(MemoryRun({}, [])))
JOB = Job(next(iter(ROUND.blocks)), (0, 1, 2))


def void(**changes: Any) -> VoidRecord:
    said = {"bot": "ann", "why": "It was away.", "started": "2026", "ended": "2027"}
    return replace(VoidRecord.of(JOB.block.pairing(1), **said), **changes)


def change(**changes: Any) -> tuple[MatchRecord, ...]:
    return (replace(RECORDS[0], **changes), *RECORDS[1:])


@pytest.mark.parametrize(
    "answer",
    [
        Played((*RECORDS, RECORDS[0])),
        Played(change(number=7)),
        Played(change(match="another")),
        Played(change(seed="another")),
        Played(change(seating=("cat", "cat", "cat"))),
        Played(change(block=9)),
        Played(change(game="dasan")),
        Played(change(options={"deals": 7})),
        Played(change(scores=(0, 0))),
        Played(change(struck=(3,))),
        Played((), (void(number=7),)),
        Played((), (void(match="another"),)),
        Played(RECORDS, (void(),)),
    ],
)
def test_matches_that_were_not_asked_for(answer: Played) -> None:
    with pytest.raises(RunError, match="does not belong"):
        check(CUP, JOB, answer)


@pytest.mark.parametrize("answer", [Played(RECORDS), Played(RECORDS[:1], (void(),)), Played()])
def test_a_part_of_a_job_is_enough(answer: Played) -> None:
    check(CUP, JOB, answer)
