"""The gateway: whose tokens let in, and what authors' programs can do to it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
import requests

from tests.connections import connections
from tests.tournament import hostile
from tests.tournament.cups import stich
from tests.web.gateways import MOVE, PASS, Author, Gateway, served
from tournament.bot.client import dial_url
from tournament.bot.url_bot import Choice, Failure, HttpBot
from tournament.decisions import farewells
from tournament.records import Decision, DecisionKind, FaultKind
from web.gateway.invitations import FILE, Invitations
from web.gateway.server import ANSWER_LIMIT


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with served(tmp_path_factory.mktemp("run")) as opened:
        yield opened


@pytest.fixture(scope="module")
def other_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """Where no other test has used up the calls of a bot."""
    with served(tmp_path_factory.mktemp("other")) as opened:
        yield opened


@pytest.fixture
def asking() -> Iterator[Callable[[HttpBot], Future[Choice | Failure]]]:
    """The runner asks, in a thread."""
    with ThreadPoolExecutor(8) as pool:
        yield lambda bot: pool.submit(bot.move, MOVE, 60)


Asking = Callable[[HttpBot], "Future[Choice | Failure]"]


def test_requests_go_down_and_answers_up(gateway: Gateway, asking: Asking) -> None:
    author = gateway.author("ann")
    next_poll = author.later(author.poll)
    with closing(gateway.runner("ann")) as bot:
        for _ in range(3):
            asked = asking(bot)
            found = next_poll.result()
            assert found.headers["X-Stich-Call"] == "POST /move"
            assert found.content == MOVE
            next_poll = author.answer(PASS, found)
            assert asked.result() == Choice("pass", bot.elapsed_s)


def test_each_bad_answer_is_the_same_fault_as_by_url(gateway: Gateway, asking: Asking) -> None:
    ways = {
        "not HTTP": (b"SSH-2.0-OpenSSH_9.2\r\n", "1", FaultKind.INVALID),
        "not a move": (hostile.answer(b"[1]"), "1", FaultKind.INVALID),
        "too large": (hostile.answer(b" " * 70_000), "1", FaultKind.INVALID),
        "half": (hostile.HALF_BODY, "0", FaultKind.UNREACHABLE),
        "nothing": (b"", "0", FaultKind.UNREACHABLE),
    }
    author = gateway.author("ann")
    next_poll = author.later(author.poll)
    for name, (data, complete, kind) in ways.items():
        with closing(gateway.runner("ann")) as bot:
            asked = asking(bot)
            for _ in range(2 if kind is FaultKind.UNREACHABLE else 1):  # it is tried again
                next_poll = author.answer(data, next_poll.result(), complete)
            outcome = asked.result()
            assert isinstance(outcome, Failure), name
            assert outcome.kind is kind, name


def test_a_bot_that_nobody_connected_is_unreachable(gateway: Gateway) -> None:
    with closing(gateway.runner("bob")) as bot:
        outcome = bot.move(MOVE, 60)
    assert isinstance(outcome, Failure)
    assert outcome.kind is FaultKind.UNREACHABLE


def test_only_the_runner_knows_where_bots_are_asked(gateway: Gateway) -> None:
    url = re.sub("/[0-9a-f]{32}/", f"/{'0' * 32}/", gateway.client.url_of("ann"))
    with closing(HttpBot(url, dial_url(url))) as bot:
        assert isinstance(bot.move(MOVE, 60), Failure)


def test_whether_it_is_alive_needs_no_token(gateway: Gateway) -> None:
    author = gateway.author("ann")
    found = author.http.get(gateway.url + "/healthz", headers={"Authorization": ""}, timeout=60)
    assert (found.status_code, found.json()) == (200, {"status": "ok"})


def test_only_a_valid_token_lets_in(gateway: Gateway) -> None:
    invitations = gateway.invitations
    revoked = invitations.invite("bob", 1)
    invitations.revoke("bob")
    replaced = invitations.invite("bob", 1)
    expired = invitations.invite("bob", -1)
    says = {
        "f" * 64: "not known",
        "": "Send the token",
        revoked: "was revoked",
        replaced: "was revoked",
        expired: "expired at",
        invitations.invite("cat", 1): "organiser of the cup starts this bot",
    }
    for token, words in says.items():
        refused = Author(gateway.url, token).connect()
        assert refused.status_code == 401
        assert words in refused.json()["detail"]
        assert refused.json()["detail"].endswith(".")
    kept = (invitations._path).read_text()
    assert not any(token in kept for token in says if token)
    assert invitations._path.stat().st_mode & 0o777 == 0o600


def test_a_revoked_token_gets_nothing_more(gateway: Gateway, asking: Asking) -> None:
    author = gateway.author("ann")
    waiting, told = author.later(author.poll), author.later(author.wait)
    gateway.invitations.revoke("ann")
    with closing(gateway.runner("ann")) as bot:
        outcome = asking(bot).result()
    assert isinstance(outcome, Failure)
    assert waiting.result().status_code in (204, 401)  # it may arrive after the token has gone
    assert told.result().status_code == 401
    assert "was revoked" in told.result().json()["detail"]
    assert author.poll().status_code == 401


def test_the_newer_of_two_connections_wins_and_the_older_is_told(
    gateway: Gateway, asking: Asking
) -> None:
    token = gateway.invitations.invite("ann", 1)
    older, newer = Author(gateway.url, token), Author(gateway.url, token)
    older.connect()
    waiting = older.later(older.wait)
    with closing(gateway.runner("ann")) as bot:
        asked = asking(bot)
        taken = older.poll()  # and then the other one connects
        newer.connect()
        told = waiting.result()
        assert told.status_code == 409
        assert "Another program has connected" in told.json()["detail"]
        assert older.poll(PASS, taken.headers["X-Stich-Request"]).status_code == 409
        assert not asked.done()
        newer.answer(PASS, newer.poll())
        assert isinstance(asked.result(), Choice)


def test_what_the_runner_gave_up_is_told_and_its_answer_is_nobodys(
    gateway: Gateway, asking: Asking
) -> None:
    author = gateway.author("ann")
    with closing(gateway.runner("ann")) as bot:
        late = bot.move(MOVE, 0.05)
        assert isinstance(late, Failure)
        assert late.kind is FaultKind.TIMEOUT
        asked = asking(bot)
        found = author.poll()
        for number in ("0", "1", "999999", str(2**70)):
            again = author.poll(hostile.answer(b'{"move": "wrong"}'), number)
            assert again.content == found.content  # still to be answered
        author.answer(PASS, again)
        assert isinstance(asked.result(), Choice)


def test_a_flood_is_refused_and_costs_the_other_bot_nothing(
    gateway: Gateway, asking: Asking
) -> None:
    author, other = gateway.author("dan"), gateway.author("bob")
    statuses: list[int] = []

    def flood() -> None:
        mine = Author(gateway.url, author.token)
        mine.http.headers["X-Stich-Session"] = author.http.headers["X-Stich-Session"]
        statuses.extend(
            mine.poll(b"x" * 1000, "7", **{"X-Stich-Table": "9"}).status_code for _ in range(20)
        )

    with ThreadPoolExecutor(8) as pool, closing(gateway.runner("bob")) as bot:
        floods = [pool.submit(flood) for _ in range(8)]
        next_poll = other.later(other.poll)
        for _ in range(20):
            asked = asking(bot)
            next_poll = other.answer(PASS, next_poll.result())
            assert isinstance(asked.result(), Choice)
        for one in floods:
            one.result()
    assert set(statuses) == {400, 429}
    assert statuses.count(429) > 10


def test_unfinished_bodies_of_one_token_are_few(gateway: Gateway) -> None:
    author = gateway.author("ann")
    head = (
        "POST /connect/poll HTTP/1.1\r\nHost: x\r\nX-Stich-Table: 0\r\n"
        f"Authorization: Bearer {author.token}\r\nContent-Length: {ANSWER_LIMIT}\r\n\r\n"
    ).encode()
    port = int(gateway.url.rpartition(":")[2])
    with connections(port, 100, head + b"x" * 1000) as (*_, last):
        assert last.recv(100).startswith(b"HTTP/1.1 429")


def test_the_program_of_a_bot_that_plays_no_more_is_told(tmp_path: Path) -> None:
    with served(tmp_path) as gateway:
        programs = [gateway.author(name) for name in ("ann", "bob")]
        gateway.client.exclude(farewells([Decision(1, DecisionKind.WITHDRAW, "", "", "bob")]))
        assert programs[1].wait().json()["over"] == "The organiser decided that bob plays no more."
        gateway.client.exclude({})
        playing = programs[1].later(programs[1].wait)
        requests.post(gateway.client.url_of("x").replace("bots/x", "over"), timeout=60)
        late = gateway.author("dan")
        for told in (programs[0].wait(), playing.result(), late.wait()):
            assert told.json()["over"] == "The cup is over."


def test_a_bot_that_failed_is_told_why_and_may_connect_again(gateway: Gateway) -> None:
    # No other test uses up the calls of this bot.
    author = gateway.author("eve")
    waiting = author.later(author.wait)
    gateway.client.fail({"eve": "It moves out of turn."})
    assert waiting.result().json() == {"over": "", "failed": "It moves out of turn."}
    assert "eve" not in gateway.client.tables()
    gateway.author("eve", tables=3)
    assert gateway.client.tables()["eve"] == 3


@pytest.mark.parametrize("name", ["new", "ann/2", "../é %2F?#", "名" * 64])
def test_a_bot_that_joined_later_connects_by_its_name(
    gateway: Gateway, asking: Asking, name: str
) -> None:
    assert name not in gateway.client.tables()
    author = gateway.author(name)
    assert gateway.client.tables()[name] == 1
    with closing(gateway.runner(name)) as bot:
        asked = asking(bot)
        author.answer(PASS, author.poll())
        assert isinstance(asked.result(), Choice)


@pytest.mark.parametrize(
    ("path", "headers", "body", "status"),
    [
        ("/connect", {}, b"{}" + b" " * ANSWER_LIMIT, 413),
        ("/connect", {}, b'{"tables": 0}', 400),
        ("/connect", {}, b'{"tables": 1e9}', 400),
        ("/connect", {}, b"[" * 1000, 400),
        ("/connect/poll", {"X-Stich-Session": "0"}, b"", 410),
        ("/connect/poll", {"X-Stich-Table": "1"}, b"", 400),
        ("/connect/poll", {"X-Stich-Table": "-1"}, b"", 400),
        ("/connect/poll", {"X-Stich-Table": "1" * 5000}, b"", 400),
        ("/connect/poll", {"X-Stich-Answers": "x"}, b"", 400),
        ("/connect/else", {}, b"", 404),
        ("/", {}, b"", 404),
    ],
)
def test_a_call_that_is_wrong_is_refused_in_a_sentence(
    other_gateway: Gateway, path: str, headers: dict[str, str], body: bytes, status: int
) -> None:
    author = other_gateway.author("ann")
    about = {"X-Stich-Table": "0", **headers}
    found = author.http.post(other_gateway.url + path, data=body, headers=about, timeout=60)
    assert found.status_code == status
    assert found.json()["detail"].endswith(".")


def test_tokens_are_printed_once_and_only_for_bots_of_the_cup(tmp_path: Path) -> None:
    cup = tmp_path / "cup.toml"
    cup.write_text(
        'name = "C"\ngame = "doudizhu"\nfill = "greedy"\n[[bots]]\nname = "ann"\nconnect = true\n'
    )
    run = tmp_path / "run"
    first = stich("invite", cup, "ann", "--out", run)
    assert (first.returncode, len(first.stdout)) == (0, 65)
    Invitations(run).arena_url = "http://127.0.0.1:8123"
    second = json.loads(stich("invite", cup, "ann", "--out", run, "--json").stdout)
    assert set(second) == {"bot", "token", "command"}
    assert f"http://127.0.0.1:8123 --token {second['token']}" in second["command"]
    assert first.stdout.strip() not in (run / FILE).read_text()
    assert "ann has no token now" in stich("invite", cup, "ann", "--out", run, "--revoke").stdout
    assert "had no token" in stich("invite", cup, "ann", "--out", run, "--revoke").stdout
    wrong = stich("invite", cup, "anne", "--out", run)
    assert (wrong.returncode, "did you mean" in wrong.stderr) == (2, True)


def test_stich_run_points_to_stich_arena(tmp_path: Path) -> None:
    cup = tmp_path / "cup.toml"
    cup.write_text(
        'name = "C"\ngame = "doudizhu"\nfill = "greedy"\n[[bots]]\nname = "ann"\nconnect = true\n'
    )
    done = stich("run", cup, "--out", tmp_path / "run")
    assert done.returncode == 2
    command = shlex.join(["stich", "arena", str(cup), "--out", str(tmp_path / "run")])
    assert f"run it with: {command}" in done.stderr
