import json
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from unittest.mock import Mock
from urllib.parse import urlsplit

import msgspec
import pytest
import requests
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.support.tournament.cups import stich, succeed, write
from tests.support.web.gateways import (
    CUP,
    MOVE,
    PASS,
    Author,
    Gateway,
    Headers,
    headers,
    result,
    served,
)
from tools import hostile
from tournament.bot.client import dial_url
from tournament.bot.url_bot import HttpBot
from tournament.decisions import exclusion_notices
from tournament.records import FaultKind, Withdraw
from tournament.run.roster import wait_for_bots
from tournament.store.store import Store
from web.gateway.calls import ALIVE_S, ANSWER_LIMIT
from web.gateway.connected_bot import GRACE_S, STRANGERS
from web.gateway.invitations import FILE, Invitations
from web.gateway.runner_client import GatewayClient, GatewayStopped


def test_a_bad_answer_is_the_same_fault_as_by_url(gateway: Gateway) -> None:
    author = gateway.author("ann")
    for data, complete, fault in (
        (b"SSH-2.0-OpenSSH_9.2\r\n", True, FaultKind.INVALID),
        (hostile.answer(b"[1]"), True, FaultKind.INVALID),
        (hostile.answer(b" " * 70_000), True, FaultKind.INVALID),
        (hostile.HALF_BODY, False, FaultKind.UNREACHABLE),
        (b"", False, FaultKind.UNREACHABLE),
    ):
        with gateway.asking("ann") as asked:
            for _ in range(1 if complete else 2):  # the runner tries again
                author.answer(data, author.asked()[0], complete=complete)
            assert result(asked.result()) == fault, data[:20]


def test_only_the_runner_knows_where_bots_are_asked(gateway: Gateway) -> None:
    gateway.author("ann")
    other = re.sub("/(5ec2e7)+/", "/0/", gateway.client.url_of("ann"))
    for url in (other, gateway.client.url_of("never-connected")):
        with closing(HttpBot(url, dial_url(url))) as bot:
            assert result(bot.move(MOVE, 60)) == FaultKind.UNREACHABLE


def refused(gateway: Gateway, shown: Headers) -> tuple[int, str]:
    """The status and the sentence with which a program is refused."""
    with pytest.raises(InvalidStatus) as raised:
        Author(gateway.url, shown)
    response = raised.value.response
    return response.status_code, json.loads(bytes(response.body or b""))["detail"]


def test_only_a_valid_token_lets_a_program_in(gateway: Gateway) -> None:
    invitations = gateway.invitations
    revoked = invitations.invite("bob", 1)
    invitations.revoke("bob")
    refusals = {
        "f" * 64: "not known",
        "": "Send the token",
        revoked: "was revoked",
        invitations.invite("bob", 1): "was revoked",  # replaced by the next one
        invitations.invite("bob", -1): "expired at",
        invitations.invite("cat", 1): "organiser of the cup starts this bot",
    }
    for token, words in refusals.items():
        status, why = refused(gateway, headers(token))
        assert (status, words in why) == (401, True), why
    stored = invitations._path.read_text()
    assert not any(token in stored for token in refusals if token)
    assert invitations._path.stat().st_mode & 0o777 == 0o600


def test_a_header_that_is_wrong_or_sent_twice_is_named(gateway: Gateway) -> None:
    token = gateway.invite("ann")
    for tables in (0, 65, 10**4000, "many", ""):
        why = "The number of tables must be from 1 to 64."
        assert refused(gateway, headers(token, tables)) == (401, why)
    for name in ("Authorization", "X-Stich-Tables", "X-Stich-Challenges", "X-Stich-Opponent"):
        why = f"The header {name} was sent 2 times; send it once."
        twice = [header for header in headers(token) if header[0] != name] + 2 * [
            (name, "Bearer 1")
        ]
        assert refused(gateway, twice) == (401, why)


def test_a_program_with_a_revoked_token_is_disconnected(gateway: Gateway) -> None:
    asked_for, idle = gateway.author("ann"), gateway.author("bob")
    for name in ("ann", "bob"):
        gateway.invitations.revoke(name)
    with gateway.asking("ann") as asked:
        assert result(asked.result()) == FaultKind.UNREACHABLE
    gateway.put_forward(ALIVE_S)
    for author in (asked_for, idle):
        assert "was revoked" in author.told()["refused"]


def test_a_program_may_be_gone_for_two_seconds(gateway: Gateway) -> None:
    gateway.author("ann").link.close()
    with gateway.asking("ann") as asked:
        again = gateway.author("ann")
        again.answer(PASS, again.asked()[0])
        assert result(asked.result()) == "pass"
    with gateway.asking("ann") as asked:
        again.asked()
        again.link.close()
        while "ann" in gateway.client.tables():
            gateway.put_forward(GRACE_S)
        assert result(asked.result()) == FaultKind.UNREACHABLE


def test_damaged_tokens_end_the_cup_with_a_sentence(tmp_path: Path) -> None:
    with served(tmp_path) as gateway:
        token = gateway.token("ann")
        author = Author(gateway.url, headers(token))
        kept = gateway.invitations._path.read_bytes()
        (tmp_path / FILE).write_text("[7]")
        with pytest.raises(GatewayStopped, match=f"{FILE} cannot be read .* invite all bots again"):
            gateway.client.tables()
        with gateway.asking("ann") as asked:
            assert result(asked.result()) == FaultKind.UNREACHABLE
        why = "The arena cannot read its tokens now; try again later."
        assert refused(gateway, headers(token)) == (503, why)
        (tmp_path / FILE).write_bytes(kept)
        gateway.check_plays("ann", author)


def test_a_newer_connection_replaces_an_older_one(gateway: Gateway) -> None:
    token = gateway.invite("ann")
    older = Author(gateway.url, headers(token))
    with gateway.asking("ann") as asked:
        number, *_ = older.asked()  # and then the other one connects
        newer = Author(gateway.url, headers(token))
        assert "Another program has connected" in older.told()["refused"]
        assert not asked.done()
        assert newer.asked()[0] == number
        newer.answer(PASS, number)
        assert result(asked.result()) == "pass"


def test_answers_to_no_open_request_are_dropped(gateway: Gateway) -> None:
    author = gateway.author("ann")
    at = urlsplit(gateway.client.url_of("ann"))
    for _ in range(300):  # the late answers are no flood
        with socket.create_connection((at.hostname, at.port)) as runner:
            runner.sendall(f"POST {at.path}/move HTTP/1.1\r\n\r\n".encode())
            given_up, *_ = author.asked()
            runner.shutdown(socket.SHUT_WR)
            assert runner.recv(1) == b"", "the gateway asks no longer"
        author.answer(PASS, given_up)
    with gateway.asking("ann") as asked:
        number, call, body = author.asked()
        assert (call, body) == ("POST /move", MOVE)
        for other in (given_up, 0, 2**63):
            author.answer(hostile.answer(b'{"move": "wrong"}'), other)
        author.answer(PASS, number)
        assert result(asked.result()) == "pass"


@pytest.mark.parametrize("what", ["answer", "ping", "pong"])
def test_a_flood_ends_and_costs_other_bots_nothing(gateway: Gateway, what: str) -> None:
    author, other = gateway.author("dan"), gateway.author("bob")

    def flood() -> None:
        answer = partial(author.answer, b"x" * ANSWER_LIMIT, 7)
        send = answer if what == "answer" else getattr(author.link, what)
        for _ in range(1000):
            send()
        author.link.recv(timeout=60)

    with ThreadPoolExecutor(1) as pool:
        flooded = pool.submit(flood)
        for _ in range(20):
            gateway.check_plays("bob", other)
        with pytest.raises(ConnectionClosed):
            flooded.result()
    assert "dan" not in gateway.client.tables()


def test_idle_connections_of_one_address_keep_nobody_out(tmp_path: Path) -> None:
    """The oldest connections without a token are closed, and programs with a token stay."""
    with served(tmp_path) as gateway, ExitStack() as stack:
        before = gateway.author("ann")
        dial = partial(socket.create_connection, ("127.0.0.1", urlsplit(gateway.url).port))
        idle = [stack.enter_context(dial()) for _ in range(STRANGERS + 10)]
        for connection in idle[:10]:
            with suppress(ConnectionResetError):
                assert connection.recv(1) == b""
        assert gateway.author("bob").hello["bot"] == "bob"
        before.link.ping().wait()
        idle[-1].setblocking(False)
        with pytest.raises(BlockingIOError):
            idle[-1].recv(1)


def test_the_program_of_a_bot_that_no_longer_plays_is_told(tmp_path: Path) -> None:
    with served(tmp_path) as gateway:
        ann, bob = (gateway.author(name) for name in ("ann", "bob"))
        gateway.client.exclude(exclusion_notices([Withdraw(bot="bob")]))
        over = {"over": "The organiser decided that bob no longer plays."}
        assert bob.told() == over
        nothing = gateway.client.url_of("").replace("/bots/", "/nothing")
        assert requests.post(nothing, timeout=60).status_code == 404
        assert gateway.author("bob").told() == over
        assert gateway.challenger("bob", "ann").told() == {"refused": over["over"]}
        health = requests.get(gateway.url + "/healthz", timeout=60)
        assert (health.status_code, health.json()) == (200, {"status": "ok"})
        gateway.client.exclude({})
        playing = gateway.author("bob")
        requests.post(gateway.client.url_of("x").replace("bots/x", "over"), timeout=60)
        for author in (ann, playing, gateway.author("dan")):
            assert author.told() == {"over": "The cup is over."}


@pytest.mark.parametrize("name", ["new", "ann/2", "../é %2F?#", "名" * 64])
def test_a_bot_that_joined_later_may_connect(gateway: Gateway, name: str) -> None:
    assert name not in gateway.client.tables()
    author = gateway.author(name)
    assert gateway.client.tables()[name] == 1
    gateway.check_plays(name, author)


def test_a_bot_that_failed_is_told_why_and_may_connect(gateway: Gateway) -> None:
    author = gateway.author("new")
    gateway.client.fail({"new": "It moves out of turn."})
    assert author.told() == {"refused": "It moves out of turn."}
    gateway.put_forward(60)  # the program should leave by itself
    with pytest.raises(ConnectionClosed):
        author.told()
    assert "new" not in gateway.client.tables()
    gateway.author("new", tables=3)
    assert gateway.client.tables()["new"] == 3


def test_a_message_that_is_no_answer_ends_the_session(gateway: Gateway) -> None:
    of_no_number = msgspec.msgpack.encode(("x", b"", True))
    for message in ("7", b"", b"\x07", of_no_number, b"x" * 2 * ANSWER_LIMIT):
        author = gateway.author("ann")
        author.link.send(message)
        with pytest.raises(ConnectionClosed):
            author.told()


def test_the_runner_waits_for_bots_and_names_those_missing(tmp_path: Path) -> None:
    calls = SimpleQueue[tuple[tuple[str, ...], int, str]]()
    observer = Mock(waiting=lambda *args: calls.put(args))
    with ExitStack() as stack:
        gateway = stack.enter_context(served(tmp_path))
        store, organiser = (stack.enter_context(Store.create(tmp_path / "run")) for _ in range(2))
        pool = stack.enter_context(ThreadPoolExecutor(1))
        stack.callback(organiser.decide, Withdraw(bot="ann"), Withdraw(bot="bob"))
        ready = pool.submit(wait_for_bots, CUP, store, gateway.client, observer)
        ann, missing = gateway.author("ann", 3), tuple[str, ...]()
        while missing != ("bob", "dan"):
            missing, of, command = calls.get(timeout=60)
            assert (of, command) == (3, "stich invite NAME")
        bob = gateway.author("bob")
        assert calls.get(timeout=60)[0] == ("dan",)
        organiser.decide(Withdraw(bot="dan"))
        cup = ready.result()
        assert [(bot.name, bot.max_matches) for bot in cup.bots if bot.url][:2] == [
            ("ann", 3),
            ("bob", 1),
        ]
        over = pool.submit(gateway.client.end)
        for author in (ann, bob):
            assert author.told() == {"over": "The cup is over."}
            author.link.close()
        over.result()
        assert gateway.client.tables() == {}


def test_what_is_no_request_of_the_runner_costs_nothing(gateway: Gateway) -> None:
    author = gateway.author("ann")
    at = urlsplit(gateway.client.url_of("ann"))
    head = f"POST {at.path}/move HTTP/1.1\r\nContent-Length: "
    for request in ("", "GET\r\n\r\n", "x" * 70_000, head, f"{head}9\r\n\r\n1"):
        with socket.create_connection((at.hostname, at.port)) as connection:
            connection.sendall(request.encode())
            connection.shutdown(socket.SHUT_WR)
            with suppress(ConnectionResetError):
                assert connection.recv(1) == b""
    gateway.check_plays("ann", author)


def test_a_gateway_that_is_gone_ends_the_cup_with_a_sentence() -> None:
    with hostile.running(hostile.first, b"SSH-2.0\r\n") as url, requests.Session() as session:
        client = GatewayClient(url, session, "stich invite")
        with pytest.raises(GatewayStopped, match="has stopped; run the command again"):
            client.tables()


def test_bots_of_a_cup_are_invited_to_an_arena(tmp_path: Path) -> None:
    cup, run = write(tmp_path, {"ann": {"connect": True}}, 'fill = "greedy"'), tmp_path / "run"
    invite = ("invite", cup, "ann", "--out", run)
    early = stich(*invite, "--revoke")
    assert (run.exists(), f"{run}: there is no run, so no" in early.stderr) == (False, True)
    first = succeed(*invite).stdout
    Invitations(run).arena_url = "http://127.0.0.1:8123"
    second = json.loads(succeed(*invite, "--json").stdout)
    assert f"http://127.0.0.1:8123 --token {second['token']}" in second["command"]
    assert first.strip() not in (run / FILE).read_text()
    assert "ann has no token now" in succeed(*invite, "--revoke").stdout
    revoked = json.loads(succeed(*invite, "--revoke", "--json").stdout)
    assert revoked == {"bot": "ann", "had_token": False}
    wrong = stich("invite", cup, "anne", "--out", run)
    assert (wrong.returncode, "did you mean" in wrong.stderr) == (2, True)
    # `stich run` points to `stich arena`
    for where, named in (
        (("--out", "a run"), "--out 'a run'"),
        (("--store", "postgresql://me:secret@h/cup"), "--store postgresql://me@h/cup"),
    ):
        done = stich("run", cup, *where)
        assert done.returncode == 2
        assert done.stderr.endswith(f"run it with: stich arena {cup} {named}\n")
