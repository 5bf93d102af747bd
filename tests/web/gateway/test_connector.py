"""The author's side of a bot that connects: what it asks the bot, and what it says."""

import contextlib
import json
import shlex
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from http import HTTPStatus
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from tests.support.gateways import Gateway, served
from tools import hostile
from tournament.bot.client import dial_url
from tournament.bot.launch import LaunchSettings
from tournament.bot.started_bot import reach
from tournament.bot.url_bot import Choice, Failure, HttpBot
from tournament.config.cup import Bot, Limits
from tournament.records import FaultKind
from web.gateway.calls import EntryRefused
from web.gateway.connector import Connector


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with served(tmp_path_factory.mktemp("run")) as opened:
        yield opened


PROGRAM = """
import pathlib, sys, threading
sys.path.insert(0, {root!r})
from bots import kit
started = pathlib.Path({folder!r}, "started")
first = not started.exists()
started.touch()
def move(view, moves):
    if first and "hang" in view:
        threading.Event().wait()
    if "fail" in view:
        raise IndexError("moves[9]")
    return "pass" if first else "new"
kit.run(move, name="bot", version="1", games=["doudizhu"])
"""


def started(folder: Path) -> HttpBot:
    """A bot that hangs or fails when it is asked to; started again, it moves differently."""
    program = folder / "bot.py"
    program.write_text(PROGRAM.format(root=str(Path(__file__).parents[3]), folder=str(folder)))
    bot = Bot("bot", command=shlex.join([sys.executable, str(program)]))
    return reach(bot, LaunchSettings(Limits(), 60_000))


def body(match: str, turn: int, *view: str) -> bytes:
    clock = {"move_ms": 1000, "bank_ms": 0}
    asked = {"match": match, "turn": turn, "view": dict.fromkeys(view), "moves": ["pass", "new"]}
    return json.dumps({"protocol": 1, **asked, "clock": clock}).encode()


@contextlib.contextmanager
def program(gateway: Gateway, bot: HttpBot) -> Iterator[list[str]]:
    """`stich connect` in a thread, for ann; what it says from the moment it is connected."""
    said: list[str] = []
    connected = threading.Event()

    def say(text: str) -> None:
        said.append(text)
        connected.set()

    connector = Connector(gateway.url, gateway.invitations.invite("ann", 1), [bot], say)

    def run() -> None:
        with contextlib.suppress(EntryRefused):  # the next test invites ann again
            connector.run()

    threading.Thread(target=run, daemon=True).start()
    with closing(bot):
        connected.wait()
        yield said


def test_a_bot_that_was_late_is_asked_anew_in_its_next_match(
    gateway: Gateway, tmp_path: Path
) -> None:
    """Not over the connection to the process that was ended."""
    with (
        program(gateway, started(tmp_path)) as said,
        closing(gateway.runner("ann")) as bot,
    ):
        late = bot.move(body("m", 1, "hang"), 0.5)
        assert isinstance(late, Failure)
        assert late.kind is FaultKind.TIMEOUT
        moves = [bot.move(body("m", 2), 60), bot.move(body("n", 3), 60)]
        assert [move.move for move in moves if isinstance(move, Choice)] == ["pass", "new"]
        assert said[-1] == "Too late: the runner does not wait for POST /move any more."


def test_an_author_reads_that_the_bot_failed(gateway: Gateway, tmp_path: Path) -> None:
    """Its output stays on the author's machine, so the program shows the end of it."""
    with (
        program(gateway, started(tmp_path)) as said,
        closing(gateway.runner("ann")) as bot,
    ):
        failed = bot.move(body("m", 1, "fail"), 60)
        assert isinstance(failed, Failure)
        assert failed.kind is FaultKind.INVALID
        assert said[-1] == (
            "The bot answered POST /move with status 500, not 200. Its last line: IndexError:"
            " moves[9]"
        )


def test_a_busy_bot_is_asked_again_or_late_as_without_the_arena(gateway: Gateway) -> None:
    with (
        hostile.running(hostile.busy("Retry-After: 0")) as url,
        program(gateway, HttpBot(url, dial_url(url))),
        closing(gateway.runner("ann")) as bot,
    ):
        outcomes = [bot.move(body("m", turn), 60) for turn in (1, 2)]
        assert [getattr(outcome, "move", outcome) for outcome in outcomes] == ["pass", "pass"]
    with (
        hostile.running(hostile.busy("Retry-After: 99")) as url,
        program(gateway, HttpBot(url, dial_url(url))) as said,
        closing(gateway.runner("ann")) as bot,
    ):
        late = bot.move(body("m", 1), 1)
        assert isinstance(late, Failure)
        assert late.kind is FaultKind.TIMEOUT
        assert "busy (429)" in late.detail
        assert "busy (429)" in said[-1]
        assert isinstance(bot.move(body("m", 2), 1), Choice)


class Said(Exception):
    pass


def say(text: str) -> None:
    """End the connector with what it says."""
    raise Said(text)


def hostile_arena(link: ServerConnection) -> None:
    """An arena that the author of a bot should not have trusted."""
    assert link.request is not None
    link.send(json.dumps({"cup": "\x1b[2J", "bot": "ann"}))
    with contextlib.suppress(ConnectionClosed):
        link.send(b"x" * 9_000_000 if "large" in link.request.path else '{"over": "It is over."}')


@pytest.mark.parametrize(
    ("path", "last"),
    [
        ("", "It is over."),
        ("/large", "Connection lost (its answer is larger than that of an arena); trying again."),
    ],
)
def test_what_an_arena_says_is_bounded_and_printable(path: str, last: str) -> None:
    said: list[str] = []
    with serve(hostile_arena, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.socket.getsockname()[1]}{path}"

        def say(text: str) -> None:
            said.append(text)
            if "trying again" in text:
                raise Said

        with contextlib.suppress(Said):
            Connector(url, "t", [], say).run()
    assert (said[0], said[-1]) == ("Connected to \\x1b[2J as ann.", last)


def test_an_arena_without_tls_is_named(gateway: Gateway) -> None:
    url = gateway.url.replace("http:", "https:")
    with pytest.raises(Said) as said:
        Connector(url, "t", [], say).run()
    why = "it does not speak TLS there; perhaps its address begins with http://"
    assert str(said.value) == f"No connection to {url} ({why}); trying again."


def test_an_arena_that_sends_on_to_tls_is_named() -> None:
    def send_on(link: ServerConnection, request: Request) -> Response:
        response = link.respond(HTTPStatus.MOVED_PERMANENTLY, "")
        response.headers["Location"] = "https://arena.example/connect"
        return response

    with serve(hostile_arena, "127.0.0.1", 0, process_request=send_on) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(Said, match="https://"):
            Connector(f"http://127.0.0.1:{server.socket.getsockname()[1]}", "t", [], say).run()
