"""Misbehaving bots: each ends in its fault, in time, and costs nobody else anything."""

import json

import pytest

import games
from tests.tournament import hostile
from tests.tournament.played import Dice
from tournament.bot.http_client import BODY_LIMIT
from tournament.bot.player import Failure, HttpBot, dial_url
from tournament.config import Clock
from tournament.match.match import Pairing, Rules, play
from tournament.match.referee import LocalReferee
from tournament.records import FaultKind, MatchRecord

SEATS = ("hostile", "ann", "bob")
REQUEST = json.dumps({"turn": 1, "moves": ["pass"]}).encode()


def asked(url: str, seconds: float = 0.3) -> Failure:
    bot = HttpBot(url, dial_url(url))
    try:
        with pytest.raises(Failure) as failure:
            bot.move(REQUEST, seconds)
    finally:
        bot.close()
    return failure.value


def match(url: str, strikes: int = 3, clock: Clock | None = None) -> MatchRecord:
    options = {option.name: option.default for option in games.get("doudizhu").options}
    rules = Rules("doudizhu", 3, options, clock or Clock(40, 60, 1000), strikes)
    pairing = Pairing("m", 1, "k", 1, "", 0, 1, SEATS, SEATS, "seed of a match")
    bot = HttpBot(url, dial_url(url))
    try:
        return play(rules, pairing, LocalReferee(), [bot, Dice("ann"), Dice("bob")])
    finally:
        bot.close()


@pytest.mark.parametrize("how", hostile.WAYS)
def test_each_ends_in_its_fault(how: str) -> None:
    """Those that never end would hold the test up for ever."""
    handle, kind = hostile.WAYS[how]
    with hostile.running(handle) as url:
        clock = None if kind == "timeout" else Clock(60_000, 0)
        (fault,) = match(url, strikes=1, clock=clock).faults
    assert fault.kind == kind, fault.detail
    assert fault.detail.endswith(".")
    assert fault.elapsed_ms >= fault.deadline_ms or kind != "timeout"


@pytest.mark.parametrize("how", ["hang", "drip-body", "reset", "deep", "illegal", "surrogate"])
def test_the_match_goes_on_without_who_is_struck_out(how: str) -> None:
    handle, kind = hostile.WAYS[how]
    with hostile.running(handle) as url:
        record = match(url)
    assert record.struck == (0,)
    assert [fault.kind for fault in record.faults] == [kind] * 3
    assert [fault.turn for fault in record.faults] == [1, 2, 3]
    assert len(record.times[0]) == 3
    assert record.adjusted[0] == min(record.scores)
    assert record.adjusted[1:] == record.scores[1:]
    assert record.deals == 1
    for fault in record.faults:
        assert record.moves[fault.move] == fault.played
        view = json.loads(fault.request)
        assert view["turn"] == fault.turn
        assert fault.played == view["moves"][0]


def test_what_goes_over_the_move_is_taken_from_the_bank() -> None:
    with hostile.running(hostile.hang) as url:
        record = match(url)
    assert [fault.deadline_ms for fault in record.faults] == [100, 40, 40]
    clocks = [json.loads(fault.request)["clock"] for fault in record.faults]
    assert clocks == [
        {"move_ms": 40, "bank_ms": 60},
        {"move_ms": 40, "bank_ms": 0},
        {"move_ms": 40, "bank_ms": 0},
    ]
    for fault in record.faults:
        assert fault.elapsed_ms >= fault.deadline_ms


def test_an_answer_of_exactly_the_limit_is_fine_and_one_more_is_not() -> None:
    frame = len('{"move": "pass", "x": ""}')
    for extra, fine in ((0, True), (1, False)):
        body = '{"move": "pass", "x": "' + "x" * (BODY_LIMIT - frame + extra) + '"}'
        with hostile.running(hostile.says(body)) as url:
            bot = HttpBot(url, dial_url(url))
            if fine:
                assert bot.move(REQUEST, 5).move == "pass"
            else:
                with pytest.raises(Failure, match="64 KiB"):
                    bot.move(REQUEST, 5)
            bot.close()


def test_fields_beside_the_move_may_say_anything_twice() -> None:
    said = '{"a": 1, "a": 2, "why": {"move": 1, "move": 2}, "move": "pass"}'
    with hostile.running(hostile.says(said)) as url:
        bot = HttpBot(url, dial_url(url))
        try:
            assert bot.move(REQUEST, 60).move == "pass"
        finally:
            bot.close()


def test_a_broken_connection_is_tried_once_more() -> None:
    calls = []

    def second_time(connection, request) -> None:  # type: ignore[no-untyped-def]
        calls.append(request)
        (hostile.first if len(calls) % 2 == 0 else hostile.reset)(connection, request)

    with hostile.running(second_time) as url:
        bot = HttpBot(url, dial_url(url))
        assert bot.move(REQUEST, 5).move == "pass"
        bot.close()
    assert len(calls) == 2
    assert calls[0] == calls[1]


def test_the_retry_has_no_deadline_of_its_own() -> None:
    calls = []

    def reset_then_hang(connection, request) -> None:  # type: ignore[no-untyped-def]
        calls.append(request)
        (hostile.reset if len(calls) == 1 else hostile.hang)(connection, request)

    with hostile.running(reset_then_hang) as url:
        failure = asked(url)
    assert failure.kind is FaultKind.TIMEOUT
    assert len(calls) == 2


def test_proxies_from_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with hostile.running(hostile.first) as url:
        bot = HttpBot(url, dial_url(url))
        assert bot.move(REQUEST, 5).move == "pass"
        bot.close()


def test_a_connection_is_kept_alive() -> None:
    seen = []

    def note(connection, request) -> None:  # type: ignore[no-untyped-def]
        seen.append(connection.getpeername())
        hostile.first(connection, request)

    with hostile.running(note) as url:
        bot = HttpBot(url, dial_url(url))
        for _ in range(5):
            bot.move(REQUEST, 5)
        bot.close()
    assert len(set(seen)) == 1


def test_time_is_charged_to_the_bot_that_took_it() -> None:
    with hostile.running(hostile.hang) as url:
        record = match(url)
    without = [1000 * times for times in (0.1, 0.04, 0.04)]
    assert all(took >= least for took, least in zip(record.times[0], without, strict=True))
    assert record.own_ms < record.wall_ms - sum(without)


def test_the_evidence_is_kept() -> None:
    with hostile.running(hostile.WAYS["not-json"][0]) as url:
        record = match(url, strikes=1)
    (fault,) = record.faults
    assert fault.answer.status == 200
    assert fault.answer.body == "I pass."
    assert "Content-Length: 7" in fault.answer.headers
    assert fault.url == url
    assert json.loads(fault.request)["view"]["seat"] == 0


def test_what_a_bot_says_is_told_without_control_characters() -> None:
    said = hostile.answer(b"{}", "Content-Encoding: \x1b[2J")
    with hostile.running(hostile.sends(said)) as url:
        (fault,) = match(url, strikes=1, clock=Clock(60_000, 0)).faults
    assert fault.kind == "invalid"
    assert "\x1b" not in fault.detail


PASS = b'{"move": "pass"}'
FINE = {
    "in chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n"
    + PASS
    + b"\r\n0\r\n\r\n",
    "announced by 100": b"HTTP/1.1 100 Continue\r\n\r\n" + hostile.answer(PASS),
    "with hints before it": b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    + hostile.answer(PASS),
    "lines without CR": hostile.answer(PASS).replace(b"\r\n", b"\n"),
    "in an old version": b"HTTP/1.0 200 OK\r\nContent-Length: 16\r\n\r\n" + PASS,
    "with fields beside": hostile.answer(b'{"move": "pass", "why": {"a": [1, null]}, "p": 0.5}'),
    "encoded as identity": hostile.answer(PASS, "Content-Encoding: identity"),
    "with one answer too many": hostile.answer(PASS) + hostile.answer(b'{"move": "bid:3"}'),
    "with rubbish behind it": hostile.answer(PASS) + b"\0\0\0",
}


@pytest.mark.parametrize("how", FINE)
def test_unusual_answers_that_are_fine(how: str) -> None:
    with hostile.running(hostile.sends(FINE[how])) as url:
        bot = HttpBot(url, dial_url(url))
        assert [bot.move(REQUEST, 20).move for _ in range(3)] == ["pass"] * 3
        bot.close()


def test_an_answer_that_ends_with_the_connection_is_whole() -> None:
    with hostile.running(hostile.half(b"HTTP/1.1 200 OK\r\n\r\n" + PASS)) as url:
        bot = HttpBot(url, dial_url(url))
        assert bot.move(REQUEST, 20).move == "pass"
        bot.close()


def test_an_answer_that_comes_byte_by_byte_in_time_is_fine() -> None:
    def slowly(connection, request) -> None:  # type: ignore[no-untyped-def]
        for byte in hostile.answer(PASS):
            connection.sendall(bytes([byte]))

    with hostile.running(slowly) as url:
        bot = HttpBot(url, dial_url(url))
        assert bot.move(REQUEST, 20).move == "pass"
        bot.close()
