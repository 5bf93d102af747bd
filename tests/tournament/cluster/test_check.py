"""Matches that a worker sends back belong to the block that it was asked for."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.support import played
from tests.support.memory_run import run_of
from tournament.cluster.executor import check
from tournament.cluster.tables import Played
from tournament.formats.scores import Scores
from tournament.model import Run
from tournament.records import MatchRecord, Outage, place_of
from tournament.run.executor import Finished, Job, RunError, Voided

CUP = played.cup()
RECORDS = tuple(played.played(CUP, {"ann": 5}))[:3]
PLAN = played.plan(CUP)
(ROUND,) = PLAN.rounds(Run(cup=CUP, finished=False), Scores(run_of([])))
JOB = Job(next(iter(ROUND.blocks)), (0, 1, 2))


def void(**changes: Any) -> Outage:
    said = {"bot": "ann", "why": "It was away.", "started": "2026", "ended": "2027"}
    return Outage(**{**place_of(JOB.block.pairing(1)), **said, **changes})


def change(**changes: Any) -> list[MatchRecord | Outage]:
    return [replace(RECORDS[0], **changes), *RECORDS[1:]]


def events(answer: Sequence[MatchRecord | Outage]) -> Played:
    last = len(answer) - 1
    return [
        Voided(one) if isinstance(one, Outage) else Finished(one, last=at == last)
        for at, one in enumerate(answer)
    ]


@pytest.mark.parametrize(
    "answer",
    [
        [*RECORDS, RECORDS[0]],
        change(number=7),
        change(match="another"),
        change(seed="another"),
        change(seating=("cat", "cat", "cat")),
        change(block=9),
        change(game="dasan"),
        change(options={"deals": 7}),
        change(scores=(0, 0)),
        change(struck=(3,)),
        [void(number=7)],
        [void(match="another")],
        [*RECORDS, void()],
        [void(), RECORDS[2]],
    ],
)
def test_matches_that_were_not_asked_for(answer: list[MatchRecord | Outage]) -> None:
    with pytest.raises(RunError, match="does not belong"):
        check(CUP, JOB, events(answer))


@pytest.mark.parametrize("answer", [[*RECORDS], [RECORDS[0], void()], []])
def test_a_part_of_a_job_is_enough(answer: list[MatchRecord | Outage]) -> None:
    check(CUP, JOB, events(answer))


@pytest.mark.parametrize("lasts", [(False, False), (True, True), (True, False)])
def test_its_table_is_free_after_the_last_match(lasts: tuple[bool, bool]) -> None:
    with pytest.raises(RunError, match="does not belong"):
        check(CUP, JOB, list(map(Finished, RECORDS, lasts)))
