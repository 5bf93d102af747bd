"""Matches that a worker sends must belong to its job."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.support import played
from tournament.cluster.executor import check
from tournament.cluster.tables import Played
from tournament.formats.scores import Scores
from tournament.model import Run
from tournament.records import MatchRecord, Outage, place_of
from tournament.run.executor import Finished, Job, RunError, Voided

CUP = played.cup()
RECORDS = tuple(played.played(CUP, {"ann": 5}))[:3]
PLAN = played.plan(CUP)
(ROUND,) = PLAN.rounds(Run(cup=CUP, finished=False), Scores(played.NoMatches()))
JOB = Job(next(iter(ROUND.blocks)), (0, 1, 2))


def void(**changes: Any) -> Outage:
    outage = {"bot": "ann", "why": "It was away.", "started": "2026", "ended": "2027"}
    return Outage(**{**place_of(JOB.block.pairing(1)), **outage, **changes})


def events(answer: Sequence[MatchRecord | Outage]) -> Played:
    return [
        Voided(record) if isinstance(record, Outage) else Finished(record, last=at == len(answer))
        for at, record in enumerate(answer, 1)
    ]


def refuses(played: Played) -> None:
    with pytest.raises(RunError, match="does not belong"):
        check(CUP, JOB, played)


@pytest.mark.parametrize(
    "changes",
    [
        {"number": 7},
        {"match": "another"},
        {"seed": "another"},
        {"seating": ("cat", "cat", "cat")},
        {"block": 9},
        {"game": "dasan"},
        {"options": {"deals": 7}},
        {"scores": (0, 0)},
        {"struck": (3,)},
    ],
    ids=str,
)
def test_a_match_that_was_not_asked_for_is_refused(changes: dict[str, Any]) -> None:
    refuses(events([replace(RECORDS[0], **changes), *RECORDS[1:]]))


@pytest.mark.parametrize(
    "answer",
    [
        [*RECORDS, RECORDS[0]],
        [void(number=7)],
        [void(match="another")],
        [*RECORDS, void()],
        [void(), RECORDS[2]],
    ],
    ids=["twice", "number", "id", "played and void", "after a void match"],
)
def test_an_answer_with_a_wrong_void_match_is_refused(answer: list[MatchRecord | Outage]) -> None:
    refuses(events(answer))


@pytest.mark.parametrize("answer", [[*RECORDS], [RECORDS[0], void()], []])
def test_a_part_of_a_job_is_enough(answer: list[MatchRecord | Outage]) -> None:
    check(CUP, JOB, events(answer))


@pytest.mark.parametrize("lasts", [(False, False), (True, True), (True, False)])
def test_a_table_is_free_after_the_last_match(lasts: tuple[bool, bool]) -> None:
    refuses(list(map(Finished, RECORDS, lasts)))
