"""The author's side of a bot that connects: what it asks the bot, and what it says."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.tournament import hostile
from tests.web.gateways import MOVE, Gateway, served
from tournament.bot.dial import dial_url
from tournament.bot.http_client import HttpConnection
from tournament.bot.player import Choice, Failure, HttpBot
from tournament.records import FaultKind
from web.gateway.connector import Connector, Refused


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with served(tmp_path_factory.mktemp("run")) as opened:
        yield opened


class RestartedBot:
    """A bot of an author's program: each `renew` goes on to the next of its servers."""

    def __init__(self, *urls: str) -> None:
        self._urls = list(urls)
        self._bot: HttpBot | None = None

    def reconnect(self) -> HttpConnection:
        self.close()
        self._bot = HttpBot(self._urls[0], dial_url(self._urls[0]))
        return self._bot.reconnect()

    def renew(self) -> None:
        del self._urls[0]

    def output(self) -> str:
        return "starting\nmoves[9]: IndexError\n"

    def close(self) -> None:
        if self._bot is not None:
            self._bot.close()


@contextlib.contextmanager
def program(gateway: Gateway, bot: RestartedBot) -> Iterator[list[str]]:
    """`stich connect` in a thread, for ann; what it says from the moment it is connected."""
    said: list[str] = []
    connected = threading.Event()

    def say(text: str) -> None:
        said.append(text)
        connected.set()

    connector = Connector(gateway.url, gateway.invitations.invite("ann", 1), [bot], say)

    def run() -> None:
        with contextlib.suppress(Refused):  # the next test invites ann again
            connector.run()

    threading.Thread(target=run, daemon=True).start()
    with closing(bot):
        connected.wait()
        yield said


def test_a_bot_that_was_late_is_asked_anew_in_its_next_match(gateway: Gateway) -> None:
    """Not over the connection to the process that was ended."""

    def hangs_once(connection: socket.socket, request: dict[str, Any]) -> None:
        if request["turn"] > 1:
            hostile.first(connection, request)

    def body(match: str, turn: int) -> bytes:
        return json.dumps({"match": match, "turn": turn, "moves": ["pass"]}).encode()

    with (
        hostile.running(hangs_once) as old,
        hostile.running(hostile.says('{"move": "new"}')) as new,
        program(gateway, RestartedBot(old, new)) as said,
        closing(gateway.runner(0)) as bot,
    ):
        late = bot.move(body("m", 1), 0.5)
        assert isinstance(late, Failure)
        assert late.kind is FaultKind.TIMEOUT
        moves = [bot.move(body("m", 2), 60), bot.move(body("n", 3), 60)]
        assert [move.move for move in moves if isinstance(move, Choice)] == ["pass", "new"]
        assert said[-1] == "Too late: the runner does not wait for POST /move any more."


def test_an_author_reads_that_the_bot_failed(gateway: Gateway) -> None:
    """Its output stays on the author's machine, so the program shows the end of it."""
    fails = hostile.sends(hostile.answer(b"{}", status="500 Failed"))
    with (
        hostile.running(fails) as url,
        program(gateway, RestartedBot(url)) as said,
        closing(gateway.runner(0)) as bot,
    ):
        failed = bot.move(MOVE, 60)
        assert isinstance(failed, Failure)
        assert failed.kind is FaultKind.INVALID
        assert said[-1] == (
            "The bot answered POST /move with status 500, not 200. Its last line: moves[9]:"
            " IndexError"
        )


def test_an_arena_without_tls_is_named(gateway: Gateway) -> None:
    class Said(Exception):
        pass

    def say(text: str) -> None:
        raise Said(text)

    url = gateway.url.replace("http:", "https:")
    with pytest.raises(Said) as said:
        Connector(url, "t", [], say).run()
    why = "it does not speak TLS there; perhaps its address begins with http://"
    assert str(said.value) == f"No connection to {url} ({why}); trying again."
