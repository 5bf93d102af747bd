"""`stich check` on time: kept and new connections, slow answers."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from stich.commands.check import check
from tests.tournament.check.checked import checked, failures
from tests.tournament.check.misbehaving import Talk, honest, lazy_network, running
from tournament.check.timing_checks import REPEATS, differ


def test_a_bot_that_waits_on_kept_connections() -> None:
    with running(lazy_network) as url:
        _, report = checked("--url", url, "--game", "dasan", "--positions", "2")
    (failure,) = failures(report)
    assert "Over kept connections it takes" in failure["problem"]
    assert "TCP_NODELAY" in failure["mend"]
    assert failure["answer"]["status"] == 200
    assert "/move" in failure["curl"]


NEAR = [0.0, -1.2, 0.4, 3.0, 0.9, -0.3, 7.5, 0.1, 1.1, -0.6, 0.2, 0.8, -1.0, 0.5, 30.0]
WIDE = [30.0 * number for number in range(15)]


@pytest.mark.parametrize(
    ("kept", "new", "found"),
    [
        ([41.0 + each for each in NEAR], [1.5 + each for each in NEAR], True),
        ([141.0 + each for each in NEAR], [101.0 + each for each in NEAR], True),
        ([250.0 + each for each in NEAR], [452.0 + each for each in NEAR], True),
        ([900.0 + each for each in NEAR], [915.0 + each for each in NEAR], False),
        (WIDE, [60.0 + each for each in WIDE], False),
        (WIDE, [200.0 + each for each in NEAR], False),
    ],
    ids=["quick", "thoughtful", "slow door", "the same", "uneven", "one of them uneven"],
)
def test_a_delay_shows_however_long_a_bot_thinks(
    kept: list[float], new: list[float], found: bool
) -> None:
    assert differ(kept, new) is differ(new, kept) is found


def test_one_unlucky_measurement_is_no_failure() -> None:
    """The machine was busy just then: measured again, it is gone."""
    busy = iter([True] * REPEATS)

    def act(talk: Talk) -> None:
        if talk.path == "/move" and talk.asked > 1 and next(busy, False):
            talk.stop.wait(0.08)
        honest(talk)

    with running(act) as url:
        status, report = checked("--url", url, "--game", "dasan", "--positions", "2")
    assert status == 0, failures(report)


def test_a_bot_over_its_time() -> None:
    def act(talk: Talk) -> None:
        if talk.path == "/move":
            talk.stop.wait(0.005)
        honest(talk)

    with running(act) as url:
        _, report = checked(
            "--url", url, "--game", "dasan", "--positions", "9", "--move-ms", "1",
            "--bank-ms", "60000",
        )  # fmt: skip
    last = report["checks"][-1]
    assert last["result"] == "failed"
    assert "more than 1 ms" in last["failures"][0]["problem"]
    assert "p99" in last["note"]


def test_a_failure_of_many_answers_shows_the_slowest() -> None:
    asked: list[bytes] = []

    def act(talk: Talk) -> None:
        if talk.path == "/move":
            asked.append(talk.body)
            talk.stop.wait(0.3 if len(asked) == 7 else 0.005)
        honest(talk)

    arguments = ["--game", "dasan", "--positions", "9", "--move-ms", "1", "--bank-ms", "60000"]
    with running(act) as url:
        result = CliRunner().invoke(check, ["--url", url, *arguments])
        _, report = checked("--url", url, *arguments)
    _, _, told = result.output.partition("FAIL")
    assert "problem  One answer in a hundred takes" in told
    assert "The slowest is shown." in told
    assert f"request  POST {url}/move {{" in told
    assert "repeat   curl -sS -i" in told
    assert asked[6].decode() in told
    shown = re.search(r"answer   200 \{.*\}, after (\d+) ms", told)
    assert shown is not None
    assert int(shown[1]) >= 300
    (failure,) = failures(report)
    assert json.loads(failure["answer"]["body"])["move"]
    assert json.loads(failure["request"]["body"])["moves"]
    assert failure["curl"]
