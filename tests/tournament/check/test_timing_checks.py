import pytest

from stich.commands.authors.check import CheckProgress, print_as_they_come
from tests.support.bots.misbehaving import honest, running
from tests.support.tournament.checked import FEW, checked, failures
from tournament.bot.protocol import TimeBank
from tournament.bot.url_bot import HttpBot
from tournament.check import checks
from tournament.check.checks import pace, slower
from tournament.check.examiner import CheckResult, Examiner, Exchange
from tournament.records import Answer

NOISE = [0.0, -1.2, 0.4, 3.0, 0.9, -0.3, 7.5, 0.1, 1.1, -0.6, 0.2, 0.8, -1.0, 0.5, 30.0]
WIDE = [30.0 * number for number in range(15)]


def test_a_delay_over_reused_connections_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Like that of a server without TCP_NODELAY."""
    monkeypatch.setattr(checks, "NODELAY_MS", -600_000)
    with running(honest) as url:
        _, report = checked("--url", url, *FEW)
    (failure,) = failures(report)
    assert failure["problem"].startswith("Over reused connections it takes ")
    assert "TCP_NODELAY" in failure["mend"]
    assert failure["request"]["url"] == f"{url}/move"


def test_a_delay_shows_however_long_a_bot_thinks() -> None:
    for noise, reused_ms, new_ms, is_slower in (
        (NOISE, 41.0, 1.5, True),
        (NOISE, 141.0, 101.0, True),
        (NOISE, 900.0, 915.0, False),
        (WIDE, 0.0, 60.0, False),
    ):
        reused, new = ([ms + extra for extra in noise] for ms in (reused_ms, new_ms))
        assert slower(reused, new) is is_slower
        assert not slower(new, reused)


def examined(*times: float, move_ms: int = 1000) -> Examiner:
    bot = HttpBot("http://127.0.0.1:9", lambda deadline: pytest.fail("it connects"))
    examiner = Examiner(bot, TimeBank(move_ms, 60_000))
    for ms in times:
        answer = Answer(200, "", '{"move": "pass"}', 16)
        examiner.valid.append(Exchange("http://127.0.0.1:9/move", b'{"turn": 1}', answer, ms))
    return examiner


def test_a_bot_over_its_time_shows_the_slowest_answer(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = pace(examined(900, *range(2, 10)))
    assert outcome.passed
    assert outcome.note == "first answer 900 ms, then median 5.5 ms, p99 8.9 ms of 8; move_ms 1000"
    alone = pace(examined(1))
    assert (alone.passed, alone.note) == (False, "too few answers to judge its time")
    outcome = pace(examined(5, 5, 5, 5, 5, 5, 300, 5, 5, move_ms=1))
    result = CheckResult(3, "its time for a move", outcome)
    print_as_they_come([result], CheckProgress(), None, verbose=False)
    shown = capsys.readouterr().out
    for words in (
        " 3 FAIL its time for a move (first answer",
        "problem  One answer in a hundred takes 279 ms, more than 1 ms. The slowest is shown.",
        "request  POST http://127.0.0.1:9/move {",
        'answer   200 {"move": "pass"}, after 300 ms',
        "repeat   curl -sS -i",
    ):
        assert words in shown
