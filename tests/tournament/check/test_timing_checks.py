"""The timing checks, with made-up times: no test waits or depends on the machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from stich.console.check_report import CheckProgress, print_as_they_come
from tournament.bot.protocol import TimeBank
from tournament.bot.supports import everything
from tournament.bot.url_bot import Choice, HttpBot
from tournament.check.checks import REPEATS, connections, pace, parallel, positions, slower
from tournament.check.examiner import Connection, Examiner
from tournament.check.outcome import CheckFailure, CheckResult, Outcome
from tournament.records import Answer

DASAN = everything("dasan")
Times = Callable[[int, int], float]
"""The milliseconds of an answer: from its number over its connection and over all, from 1."""


class FakeConnection(Connection):
    """A bot that makes the first legal move and takes the time that `times` gives."""

    def __init__(self, asked: FakeExaminer) -> None:
        super().__init__(asked)
        self.examiner = asked
        self.number = 0

    def move(self, body: bytes, seconds: float) -> Choice:
        self.number += 1
        self.examiner.bodies.append(body)
        took_ms = self.examiner.response_ms(self.number, len(self.examiner.bodies))
        return Choice(json.loads(body)["moves"][0], took_ms / 1000)

    def close(self) -> None:
        self.number = 0

    def notify(self, path: str, body: bytes, seconds: float) -> None:
        pass

    def answer(self) -> Answer:
        return Answer(200, "", '{"move": "pass"}', 16)


class FakeExaminer(Examiner):
    def __init__(self, times: Times, move_ms: int = 1000) -> None:
        bot = HttpBot("http://127.0.0.1:9", lambda deadline: pytest.fail("it connects"))
        super().__init__(bot, TimeBank(move_ms, 60_000))
        self.response_ms = times
        self.bodies: list[bytes] = []

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        yield FakeConnection(self)


def only(outcome: Outcome) -> CheckFailure:
    (failure,) = outcome.failures
    return failure


def test_a_bot_that_waits_on_reused_connections() -> None:
    """Like a server without TCP_NODELAY."""
    outcome = connections(FakeExaminer(lambda reused, _: 41 if reused > 1 else 1), DASAN)
    failure = only(outcome)
    assert failure.problem.startswith(
        "Over reused connections it takes 40 ms more than over new ones."
    )
    assert "TCP_NODELAY" in failure.advice.fix
    assert failure.exchange is not None
    assert failure.exchange.elapsed_ms == 41
    assert "/move" in failure.exchange.curl
    assert "measured 3 times" in outcome.note


def test_one_unlucky_measurement_is_no_failure() -> None:
    """The machine was busy; the delay does not occur again."""
    outcome = connections(FakeExaminer(lambda _, number: 81 if number <= REPEATS else 1), DASAN)
    assert outcome == Outcome(f"reused 1.0 ms, new 1.0 ms (medians of {REPEATS})")


def test_two_requests_at_once() -> None:
    outcome = parallel(FakeExaminer(lambda _, number: number), DASAN)
    assert outcome == Outcome("the slower of each pair took at most 8.0 ms")


NOISE = [0.0, -1.2, 0.4, 3.0, 0.9, -0.3, 7.5, 0.1, 1.1, -0.6, 0.2, 0.8, -1.0, 0.5, 30.0]
WIDE = [30.0 * number for number in range(15)]


@pytest.mark.parametrize(
    ("reused", "new", "found"),
    [
        ([41.0 + each for each in NOISE], [1.5 + each for each in NOISE], True),
        ([141.0 + each for each in NOISE], [101.0 + each for each in NOISE], True),
        ([900.0 + each for each in NOISE], [915.0 + each for each in NOISE], False),
        (WIDE, [60.0 + each for each in WIDE], False),
    ],
    ids=["quick", "thoughtful", "the same", "uneven"],
)
def test_a_delay_shows_however_long_a_bot_thinks(
    reused: list[float], new: list[float], found: bool
) -> None:
    assert slower(reused, new) is found
    assert not slower(new, reused)


def test_a_bot_within_its_time() -> None:
    asked = FakeExaminer(lambda _, number: 900 if number == 1 else number)
    positions(asked, DASAN, 9)
    assert pace(asked) == Outcome(
        "first answer 900 ms, then median 5.5 ms, p99 8.9 ms of 8; move_ms 1000"
    )


def test_too_few_answers_say_nothing() -> None:
    asked = FakeExaminer(lambda *_: 1)
    positions(asked, DASAN, 1)
    outcome = pace(asked)
    assert not outcome.passed
    assert outcome.note == "too few answers to judge its time"


def test_a_bot_over_its_time_shows_the_slowest_answer(capsys: pytest.CaptureFixture[str]) -> None:
    asked = FakeExaminer(lambda _, number: 300 if number == 7 else 5, move_ms=1)
    positions(asked, DASAN, 9)
    outcome = pace(asked)
    assert "p99" in outcome.note
    result = CheckResult(3, "its time for a move", outcome)
    print_as_they_come([result], CheckProgress(), verbose=False)
    shown = capsys.readouterr().out
    for words in (
        " 3 FAIL its time for a move (first answer",
        "problem  One answer in a hundred takes 279 ms, more than 1 ms. The slowest is shown.",
        f"request  POST {asked.bot.url}/move {{",
        'answer   200 {"move": "pass"}, after 300 ms',
        "repeat   curl -sS -i",
        asked.bodies[6].decode(),
    ):
        assert words in shown
