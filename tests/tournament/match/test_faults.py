"""Misbehaving bots: each causes its fault in time, and does not affect the others."""

import json
import socket
from contextlib import closing
from typing import Any

import pytest

from tests.support.bots.misbehaving import REQUEST, moves
from tests.support.tournament import played
from tests.support.tournament.played import Dice
from tools import hostile
from tournament.bot.client import BODY_LIMIT
from tournament.bot.url_bot import Failure, HttpBot
from tournament.config.cup import Clock
from tournament.records import FaultKind, MatchRecord

SHORT, LONG = Clock(40, 60), Clock(60_000, 0)
"""For bots that never answer in time, and for those that do."""


def match(handle: hostile.Handler, strikes: int = 3, clock: Clock = LONG) -> MatchRecord:
    with hostile.connected(handle) as bot:
        return played.match([bot, Dice("ann"), Dice("bob")], clock=clock, strikes=strikes)


def test_a_token_goes_with_every_request_and_into_no_record() -> None:
    """Not even if the bot repeats it."""
    line = "Authorization: Bearer S3cret"
    repeats = hostile.answer(line.encode(), line)
    ours, theirs = socket.socketpair()
    with theirs, closing(HttpBot("http://x", lambda _: ours, "S3cret")) as bot:
        theirs.sendall(repeats)
        bot.send("/", b"", 60)
        theirs.sendall(repeats)
        failure = bot.move(REQUEST, 60)
        assert theirs.recv(65536).count(f"{line}\r\n".encode()) == 2
    assert isinstance(failure, Failure)
    assert "Bearer (token)" in failure.answer.headers + failure.answer.body
    assert "S3cret" not in str(failure)


@pytest.mark.parametrize("how", hostile.WAYS)
def test_each_ends_in_its_fault(how: str) -> None:
    handle, kind = hostile.WAYS[how]
    (fault,) = match(handle, strikes=1, clock=SHORT if kind == "timeout" else LONG).faults
    assert fault.kind == kind, fault.detail
    assert fault.detail.endswith(".")
    assert fault.elapsed_ms >= fault.deadline_ms or kind != "timeout"


@pytest.mark.parametrize("how", ["hang", "drip-body", "reset", "deep", "illegal", "surrogate"])
def test_the_match_continues_without_a_bot_that_is_struck_out(how: str) -> None:
    handle, kind = hostile.WAYS[how]
    record = match(handle, clock=SHORT if kind == "timeout" else LONG)
    assert (record.struck, record.deals, len(record.times[0])) == ((0,), 1, 3)
    faults = [(fault.kind, fault.turn) for fault in record.faults]
    assert faults == [(kind, turn) for turn in (1, 2, 3)]
    assert record.adjusted == (min(record.scores), *record.scores[1:])
    for fault in record.faults:
        asked = json.loads(fault.request)
        assert (fault.turn, fault.played) == (asked["turn"], asked["moves"][0])
        assert record.moves[fault.move] == fault.played


def test_an_answer_may_have_exactly_the_limit() -> None:
    frame = len('{"move": "pass", "x": ""}')
    body = '{"move": "pass", "x": "' + "x" * (BODY_LIMIT - frame)
    assert moves(hostile.says(body + '"}')) == ["pass"]
    assert moves(hostile.says(body + 'x"}')) == ["Its answer has more than 64 KiB."]


def reset_then(handle: hostile.Handler, calls: list[dict[str, Any]]) -> hostile.Handler:
    """A bot that breaks the first connection, and keeps the requests."""

    def handler(connection: socket.socket, request: dict[str, Any]) -> None:
        calls.append(request)
        (hostile.reset if len(calls) == 1 else handle)(connection, request)

    return handler


def test_the_one_retry_has_no_deadline_of_its_own() -> None:
    calls: list[dict[str, Any]] = []
    assert moves(reset_then(hostile.first, calls)) == ["pass"]
    assert calls == [json.loads(REQUEST)] * 2
    with hostile.connected(reset_then(hostile.hang, [])) as bot:
        outcome = bot.move(REQUEST, 1)
    assert isinstance(outcome, Failure)
    assert outcome.kind is FaultKind.TIMEOUT


def test_a_connection_is_kept_alive() -> None:
    seen = set()

    def note(connection: socket.socket, request: dict[str, Any]) -> None:
        seen.add(connection.getpeername())
        hostile.first(connection, request)

    moves(note, times=5)
    assert len(seen) == 1


def test_time_is_charged_to_the_bot_that_took_it() -> None:
    record = match(hostile.hang, clock=SHORT)
    deadlines = [100, 40, 40]
    assert [fault.deadline_ms for fault in record.faults] == deadlines
    clocks = [json.loads(fault.request)["clock"] for fault in record.faults]
    assert clocks == [{"move_ms": 40, "bank_ms": bank_ms} for bank_ms in (60, 0, 0)]
    assert all(took >= least for took, least in zip(record.times[0], deadlines, strict=True))
    assert record.own_ms < record.wall_ms - sum(deadlines)


def test_evidence_is_kept_and_printed_without_control_characters() -> None:
    answer = hostile.answer(b"I pass.", "Content-Encoding: \x1b[2J")
    (fault,) = match(hostile.sends(answer), strikes=1).faults
    assert (fault.kind, "\x1b" in fault.detail) == ("invalid", False)
    assert (fault.answer.status, fault.answer.body) == (200, "I pass.")
    assert "Content-Length: 7" in fault.answer.headers
    assert fault.url.startswith("http://127.0.0.1:")
    assert json.loads(fault.request)["view"]["seat"] == 0
    bare = hostile.answer(b'{"move": "x"}').replace(b"\r\n", b"\n")
    (fault,) = match(hostile.sends(bare), strikes=1).faults
    assert (fault.answer.status, fault.answer.body) == (200, '{"move": "x"}')


PASS = b'{"move": "pass"}'
CHUNKS = b"10\r\n" + PASS + b"\r\n0\r\n\r\n"
USUAL = hostile.answer(PASS)


def slowly(connection: socket.socket, request: dict[str, Any]) -> None:
    for byte in USUAL:
        connection.sendall(bytes([byte]))


FINE: dict[str, bytes | hostile.Handler] = {
    "in chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKS,
    "announced by 100": b"HTTP/1.1 100 Continue\r\n\r\n" + USUAL,
    "lines without CR": USUAL.replace(b"\r\n", b"\n"),
    "in an old version": b"HTTP/1.0 200 OK\r\nContent-Length: 16\r\n\r\n" + PASS,
    "with fields beside": hostile.answer(b'{"move": "pass", "why": {"a": [1, null]}, "p": 0.5}'),
    "with fields twice": hostile.answer(b'{"a": 1, "a": {"x": 1, "x": 2}, "move": "pass"}'),
    "encoded as identity": hostile.answer(PASS, "Content-Encoding: identity"),
    "with one answer too many": USUAL + hostile.answer(b'{"move": "bid:3"}'),
    "with rubbish behind it": USUAL + b"\0\0\0",
    "until the connection ends": hostile.half(b"HTTP/1.1 200 OK\r\n\r\n" + PASS),
    "byte by byte": slowly,
}


@pytest.mark.parametrize("how", FINE)
def test_unusual_answers_that_are_fine(how: str) -> None:
    fine = FINE[how]
    handle = hostile.sends(fine) if isinstance(fine, bytes) else fine
    assert moves(handle, times=3) == ["pass"] * 3
