"""What travels between runner and workers, and what of it is nonsense."""

from dataclasses import replace
from typing import Any

import pytest

from tests.tournament import played
from tests.tournament.memory_run import MemoryRun
from tournament.cluster.messages import (
    Begin,
    Begun,
    Done,
    Failed,
    InvalidMessage,
    Play,
    Played,
    check_played,
    decode_request,
    decode_response,
    encode,
)
from tournament.formats import make_schedule
from tournament.formats.round_scores import RoundScores
from tournament.records import MatchRecord, VoidRecord
from tournament.run.executor import Inspected, Job

CUP = played.cup()
RECORDS = tuple(played.played(CUP, {"ann": 5}))[:3]


def job() -> Job:
    """The job of these records."""
    plan = make_schedule(CUP, CUP.seed or "", played.MATCH_KEY)
    (part,) = plan.rounds(RoundScores(MemoryRun({}, [])))
    return Job(next(iter(part.blocks)), (0, 1, 2))


def void(**changes: Any) -> VoidRecord:
    block = job().block
    values: dict[str, Any] = {
        "match": block.matches[1],
        "block": block.number,
        "key": block.key,
        "round": block.round,
        "number": 1,
        "seating": block.seatings[1],
        "bot": "ann",
        "why": "It was away.",
        "started": "2026",
        "ended": "2027",
    }
    return VoidRecord(**(values | changes))


def test_what_is_sent_arrives_the_same() -> None:
    assert any(record.faults for record in RECORDS)
    answer = decode_response(encode(Played(RECORDS, void())), Played)
    assert answer == Played(RECORDS, void())
    begin = Begin(CUP, 2, {"ann": "ab"}, frozenset({"bob"}))
    assert decode_request(encode(begin)) == begin
    assert decode_request(encode(Play(job()))) == Play(job())
    begun = Begun(Inspected(("No.",), {"ann": {"name": "ann"}}), "")
    assert decode_response(encode(begun), Begun) == begun
    assert decode_response(encode(Failed("No.")), Played) == Failed("No.")


@pytest.mark.parametrize(
    "data",
    [None, 7, "text", b"", b"\xff\xff", encode(Done()), encode(Played(()))[:-1]],
)
def test_what_is_no_answer(data: object) -> None:
    with pytest.raises(InvalidMessage):
        decode_response(data, Played)


def test_values_of_another_type_are_no_answer() -> None:
    wrong = encode(Played(change(scores=("1", "2", "-3"))))
    with pytest.raises(InvalidMessage, match="scores"):
        decode_response(wrong, Played)


def change(**changes: Any) -> tuple[MatchRecord, ...]:
    return (replace(RECORDS[0], **changes), *RECORDS[1:])


@pytest.mark.parametrize(
    "answer",
    [
        Played(()),
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
        Played((), void(number=7)),
        Played((), void(match="another")),
        Played(RECORDS, void()),
    ],
)
def test_matches_that_were_not_asked_for(answer: Played) -> None:
    with pytest.raises(InvalidMessage):
        check_played(CUP, job(), answer)


@pytest.mark.parametrize(
    "answer",
    [
        Played(RECORDS),
        Played(RECORDS[:1]),
        Played(RECORDS[:1], void()),
        Played((), None, "its worker process ended"),
    ],
)
def test_a_part_of_a_job_is_enough(answer: Played) -> None:
    check_played(CUP, job(), answer)
