"""Challenges, with the author's programs and message by message."""

import json
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from websockets.sync.server import ServerConnection

from stich.processes import find_port
from tests.support.nginx import command, needs_nginx, running
from tests.support.pages import blocks
from tests.support.tournament.cups import bot, stich
from tests.support.web.gateways import (
    MOVE,
    PASS,
    Author,
    Challenger,
    Gateway,
    arena,
    headers,
    served,
)
from tools import hostile
from tournament.bot.client import ExchangeError, dial_url
from tournament.bot.url_bot import HttpBot
from web.gateway.calls import CHALLENGE, EntryRefused, Opponent, Terms
from web.gateway.challenger import ChallengedBot
from web.gateway.challenges import AN_HOUR, AT_ONCE

TAKES = ("X-Stich-Challenges", "1")
WRONG = "That was no request of `stich challenge`."


@contextmanager
def connected(gateway: Gateway, name: str, *, declines: bool = False) -> Iterator[list[str]]:
    """Run an author's program. Yields what bots were started: "ranked", "challenged"."""
    instances: list[str] = []
    with ExitStack() as stack:

        def reach(what: str) -> HttpBot:
            instances.append(what)
            url = stack.enter_context(hostile.running(hostile.toy(name)))
            return stack.enter_context(closing(HttpBot(url, dial_url(url))))

        challenged = None if declines else lambda: reach("challenged")
        stack.enter_context(gateway.program(name, reach("ranked"), challenged))
        yield instances


def challenge(gateway: Gateway, challenger: str, opponent: str, *more: str) -> tuple[int, str, str]:
    words = ("--token", gateway.token(challenger), "--no-sandbox", "--json", *more)
    done = stich("challenge", gateway.url, opponent, bot("toy-1"), *words)
    return done.returncode, done.stdout, done.stderr


def test_a_challenge_is_a_duel_in_a_separate_process(gateway: Gateway) -> None:
    with connected(gateway, "bob") as asked, closing(gateway.runner("bob")) as ranked:
        code, output, errors = challenge(gateway, "ann", "bob", "--deals", "2")
        assert (code, "Warning" in errors) == (0, False), errors
        *_, last = map(json.loads, output.splitlines())
        assert (last["event"], last["matches"] > 0) == ("finished", True)
        faults = {line["bot"]: sum(line["faults"].values()) for line in last["standings"]}
        assert faults == {"ann": 0, "bob": 0}
        assert asked == ["ranked", "challenged"]
        assert ranked.send("/", b"", 60).status == 200, "its table is free"


def test_a_challenge_that_cannot_begin_says_why(gateway: Gateway) -> None:
    with connected(gateway, "ann", declines=True), connected(gateway, "bob"):
        for opponent, why in (
            ("dan", "dan is not connected now."),
            ("nobody", "nobody is not connected now."),
            ("bob", "bob is your own bot; challenge another one."),
            ("ann", "ann takes no challenges: its author has declined them"),
        ):
            code, _, errors = challenge(gateway, "bob", opponent)
            assert (code, errors[: len(why)]) == (1, why)


def begin(gateway: Gateway, name: str, opponent: str) -> tuple[Challenger, dict[str, Any]]:
    """Begin a challenge as soon as the one before is over, and return what the gateway says."""
    while True:
        challenger = gateway.challenger(name, opponent)
        hello = challenger.told()
        if f"{opponent} is playing" not in hello.get("refused", ""):
            return challenger, hello


def test_a_bot_plays_one_challenge_at_a_time_and_20_an_hour(gateway: Gateway) -> None:
    with connected(gateway, "bob"), connected(gateway, "ann"):
        challenger, hello = begin(gateway, "eve", "bob")
        assert (hello["opponent"], hello["bot"], hello["terms"]["game"]) == (
            "bob",
            "eve",
            "doudizhu",
        )
        for name, opponent, why in (
            ("dan", "bob", "bob is playing a challenge; try again"),
            ("eve", "ann", "eve is playing another challenge; wait until"),
        ):
            assert gateway.challenger(name, opponent).told()["refused"].startswith(why)
        for _ in range(AN_HOUR - 1):
            challenger.link.close()
            challenger, hello = begin(gateway, "eve", "bob")
            assert hello["opponent"] == "bob"
        challenger.link.close()
        why = "eve has begun 20 challenges within an hour, which is the most; try again later."
        assert begin(gateway, "eve", "bob")[1] == {"refused": why}
        gateway.put_forward(3600)
        challenger, hello = begin(gateway, "eve", "bob")
        assert hello["opponent"] == "bob"
        gateway.put_forward(1800)
        why = "A challenge takes at most 30 minutes; begin another one."
        assert challenger.told() == {"refused": why}


def test_a_request_that_is_not_of_a_challenge_ends_it(gateway: Gateway) -> None:
    calls = (("POST /secret", b""), ("POST /move", b"{"), ("POST /move", b'{"clock": {"ms": -1}}'))
    requests = [msgspec.msgpack.encode((1, *call)) for call in calls]
    messages: list[str | bytes] = ["7", b"", b"\x07", *requests]
    with connected(gateway, "lea"):
        for message in messages:
            challenger, _ = begin(gateway, "dan", "lea")
            challenger.link.send(message)
            assert challenger.told() == {"refused": WRONG}, message


def test_a_bot_that_does_not_answer_ends_no_challenge(gateway: Gateway) -> None:
    eli = gateway.author("eli", 1, TAKES)
    challenger = gateway.challenger("fay", "eli")
    number, call, _ = eli.asked()
    assert call == f"{CHALLENGE}GET /", "so that the bot starts"
    eli.answer(b"", number, complete=False)
    assert challenger.told()["opponent"] == "eli"
    for answer in (PASS, b"half"):
        challenger.ask("POST /move", MOVE)
        number, *asked = eli.asked()
        assert asked == [f"{CHALLENGE}POST /move", MOVE]
        eli.answer(answer, number, complete=answer == PASS)
        assert challenger.answered() == (answer, answer == PASS)
    challenger.ask("POST /move", MOVE)
    eli.asked()
    gateway.put_forward(70)  # a minute, and some seconds for the way
    assert challenger.answered() == (b"", False)
    gateway.author("eli")  # a program that declines challenges
    challenger.ask("POST /move", MOVE)
    assert challenger.answered() == (b"", False)


def test_a_name_without_a_version_is_that_of_the_newest(gateway: Gateway) -> None:
    authors = {name: gateway.author(name, 1, TAKES) for name in ("gil", "gil/10", "gil/9")}
    for name, opponent in (("gil", "gil"), ("gil/9", "gil/9")):
        gateway.challenger(f"of {name}", name)
        authors[opponent].asked()
    authors["gil"].link.close()
    while "gil" in gateway.client.tables():
        gateway.put_forward(2)
    gateway.challenger("of the newest", "gil")
    authors["gil/10"].asked()


def test_only_16_challenges_are_played_at_once(tmp_path: Path) -> None:
    with served(tmp_path) as gateway:
        authors = [gateway.author(f"bot{n}", 1, TAKES) for n in range(AT_ONCE + 1)]
        for n in range(AT_ONCE):
            gateway.challenger(f"challenger{n}", f"bot{n}")
            authors[n].asked()
        said = gateway.challenger("one more", f"bot{AT_ONCE}").told()["refused"]
        assert said.startswith("16 challenges are being played here, which is the most;")
        gateway.put_forward(70)  # so that the gateway no longer waits for the bots to start


def test_a_challenger_reads_why_a_challenge_ends(gateway: Gateway) -> None:
    said: list[str] = []
    with (
        connected(gateway, "jan"),
        ChallengedBot(gateway.url, gateway.token("hal"), "jan", said.append) as other,
        closing(HttpBot(other.url, dial_url(other.url))) as player,
    ):
        with pytest.raises(ExchangeError):
            player.send("/secret", b"", 60)
        assert set(said) == {WRONG}
        assert player.send("/", b"", 60).status == 200, "another challenge has begun"


def test_a_challenger_is_told_of_a_lost_connection() -> None:
    hello = Opponent("bob", "ann", Terms("doudizhu", 3, {}, 1000, 0))
    ways = iter((True, False))

    def handle(link: ServerConnection) -> None:
        link.send(msgspec.json.encode(hello).decode())
        link.recv()
        if next(ways):
            link.socket.shutdown(socket.SHUT_RDWR)
        else:
            link.send(msgspec.msgpack.encode((2, PASS, True)))

    said: list[str] = []
    with arena(handle) as url, ChallengedBot(url, "t", "bob", said.append) as other:
        assert other.ask("POST /move", MOVE) == (b"", False)
        lost = f"The connection to {url} is lost; the next request begins another challenge."
        assert said == [lost]
        assert other.ask("POST /move", MOVE) == (PASS, True)


def test_what_is_no_arena_for_challenges_is_named() -> None:
    says = [
        ('{"refused": "\\u001b[2J no."}', r"^\\x1b\[2J no\.$"),
        ('{"cup": "An older arena", "bot": "ann"}', "The arena has ended the challenge"),
        ("Hello.", "does not answer a challenge; check that it is an arena of this version"),
        ("", "does not answer a challenge"),
    ]
    messages = [message for message, _ in says]

    def handle(link: ServerConnection) -> None:
        if message := messages.pop(0):
            link.send(message)

    with arena(handle) as url:
        for _, why in says:
            with pytest.raises(EntryRefused, match=why):
                ChallengedBot(url, "t", "bob", print)
    with pytest.raises(EntryRefused, match="it does not answer; check the address, and try again"):
        ChallengedBot("http://127.0.0.1:9", "t", "bob", print)


@pytest.mark.slow
@needs_nginx
def test_nginx_leads_programs_to_the_gateway(gateway: Gateway, tmp_path: Path) -> None:
    """With the configuration of docs/event.md, but without TLS and other pages."""
    port = find_port("127.0.0.1", 0)
    text = blocks("docs/event.md", "nginx")[0].replace("listen 443 ssl", f"listen 127.0.0.1:{port}")
    text = text.replace("http://127.0.0.1:8001", gateway.url)
    text = re.sub(r"^ *(listen \[|listen 80|ssl_).*", "", text, flags=re.MULTILINE)
    text = re.sub(r"^server \{[^{}]*return 301[^{}]*\}", "", text, flags=re.MULTILINE)
    temporary = "".join(f"{kind}_temp_path {tmp_path};" for kind in ("client_body", "proxy"))
    path = tmp_path / "nginx.conf"
    path.write_text(
        f"events {{}} pid {tmp_path}/pid; http {{ access_log off; {temporary} {text} }}"
    )
    with running(command(tmp_path, path)), connected(gateway, "kim"):
        at, said = f"http://127.0.0.1:{port}", list[str]()
        with ChallengedBot(at, gateway.token("ivy"), "kim", said.append) as other:
            assert other.answer.opponent == "kim"
        assert Author(at, headers(gateway.invite("ann"))).hello["bot"] == "ann"
