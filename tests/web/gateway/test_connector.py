"""What an author's program asks the bot, tells the author, and plays as a challenge."""

import json
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection

from tests.support.tournament.cups import ROOT, bot, code_and_text
from tests.support.web.gateways import Gateway, arena, result
from tools import hostile
from tournament.bot.client import dial_url
from tournament.bot.launch import LaunchSettings
from tournament.bot.started_bot import reach
from tournament.bot.url_bot import Failure, HttpBot
from tournament.config.cup import Bot, Limits
from tournament.records import FaultKind
from tournament.store.chain import Digest, read_receipts
from web.gateway.calls import EntryRefused, ask_digest
from web.gateway.connector import Connector

# A bot that hangs or fails on request, and moves differently after a restart.
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


def body(match: str, turn: int, *view: str) -> bytes:
    clock = {"move_ms": 1000, "bank_ms": 0}
    asked = {"match": match, "turn": turn, "view": dict.fromkeys(view), "moves": ["pass", "new"]}
    return json.dumps({"protocol": 1, **asked, "clock": clock}).encode()


@contextmanager
def program(gateway: Gateway, bot: HttpBot) -> Iterator[tuple[list[str], HttpBot]]:
    """Run the program of ann's author. Yields its sentences, and the bot of the runner."""
    with gateway.program("ann", bot) as sentences, closing(gateway.runner("ann")) as seen:
        yield sentences, seen


def test_an_author_reads_of_failures_and_a_late_bot_is_restarted(
    gateway: Gateway, tmp_path: Path
) -> None:
    path = tmp_path / "bot.py"
    path.write_text(PROGRAM.format(root=str(ROOT), folder=str(tmp_path)))
    own = Bot("bot", command=shlex.join([sys.executable, str(path)]))
    with program(gateway, reach(own, LaunchSettings(Limits(), 60_000))) as (messages, bot):
        assert result(bot.move(body("m", 1, "fail"), 60)) == FaultKind.INVALID
        assert re.match("The bot answered POST .*500.* last line: .IndexError: .*9", messages[-1])
        assert result(bot.move(body("m", 2, "hang"), 0.5)) == FaultKind.TIMEOUT
        moves = [bot.move(body("m", 3), 60), bot.move(body("n", 4), 60)]
        assert list(map(result, moves)) == ["pass", "new"]
        assert messages[-1] == "Too late: the runner does not wait for POST /move any more."


def test_a_busy_bot_is_asked_again_as_without_the_arena(gateway: Gateway) -> None:
    for retry_after, expected in ((0, "pass"), (99, FaultKind.TIMEOUT)):
        with ExitStack() as stack:
            busy = hostile.busy(f"Retry-After: {retry_after}")
            url = stack.enter_context(hostile.running(busy))
            told, bot = stack.enter_context(program(gateway, HttpBot(url, dial_url(url))))
            outcomes = [bot.move(body("m", turn), 1 if retry_after else 60) for turn in (1, 2)]
            assert list(map(result, outcomes)) == [expected, "pass"]
            if isinstance(outcomes[0], Failure):
                assert all("busy (429)" in text for text in (outcomes[0].detail, told[-1]))


def said_by(url: str) -> list[str]:
    """What a connector tells the author until it is over or would try again."""
    messages: list[str] = []

    def say(text: str) -> None:
        messages.append(text)
        if "trying again" in text:
            raise StopIteration

    with suppress(StopIteration):
        Connector(url, "t", [], say).run()
    return messages


def hostile_arena(link: ServerConnection) -> None:
    """An arena that the author of a bot should not have trusted."""
    assert link.request is not None
    link.send(json.dumps({"cup": "\x1b[2J", "bot": "ann"}))
    with suppress(ConnectionClosed):
        link.send(b"x" * 9_000_000 if "large" in link.request.path else '{"over": "It is over."}')


def test_what_an_arena_says_is_bounded_and_printable() -> None:
    connected = "Connected to \\x1b[2J as ann."
    lost = "Connection lost (its answer is larger than that of an arena); trying again."
    with arena(hostile_arena) as url:
        missing = f"The pages at {url} gave no receipt of the run."
        assert said_by(url) == [connected, missing, "It is over."]
        assert said_by(f"{url}/large") == [connected, lost]


def test_receipts_are_kept_in_a_file_or_it_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = json.dumps({"entries": 7, "digest": "ab" * 32})

    def pages(link: ServerConnection, request: Request) -> Response | None:
        return link.respond(HTTPStatus.OK, shown) if request.path == "/digest" else None

    with arena(hostile_arena, process_request=pages) as url:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        (kept,) = (text for text in said_by(url) if "receipts" in text.lower())
        (path,) = (tmp_path / "state").rglob("receipts/*")
        assert kept == f"Receipts of the run are kept in {path}."
        assert read_receipts(path) == [Digest(7, "ab" * 32)]
        (tmp_path / "file").touch()
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
        (why,) = (text for text in said_by(url) if "receipts" in text.lower())
        assert why.startswith("No receipts are kept: ")


def test_the_pages_lead_to_the_gateway_if_there_is_one(gateway: Gateway) -> None:
    answers = {"/connect": json.dumps({"port": urlsplit(gateway.url).port})}

    def pages(link: ServerConnection, request: Request) -> Response:
        text = answers.get(request.path)
        return link.respond(HTTPStatus.OK if text else HTTPStatus.NOT_FOUND, text or "")

    with arena(hostile_arena, process_request=pages) as url:
        with pytest.raises(EntryRefused, match="This token is not known here"):
            Connector(url, "t", [], print).run()
        answers.clear()
        why = "it answers with status 404; no bots connect there, perhaps because the cup is over"
        assert said_by(url) == [f"No connection to {url} ({why}); trying again."]


def test_missing_tls_redirects_and_proxies_are_named(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    def send_on(link: ServerConnection, request: Request) -> Response:
        response = link.respond(HTTPStatus.MOVED_PERMANENTLY, "")
        response.headers["Location"] = "https://arena.example/connect"
        return response

    with arena(hostile_arena, process_request=send_on) as url:
        assert "https://" in said_by(url)[0]
    url = gateway.url.replace("http:", "https:")
    why = "it does not speak TLS there; perhaps its address begins with http://"
    assert said_by(url) == [f"No connection to {url} ({why}); trying again."]
    url = "http://arena.invalid"
    assert said_by(url) == [f"No connection to {url} (its host is not found); trying again."]
    for name, value in (("HTTP_PROXY", "http://127.0.0.1:9"), ("NO_PROXY", "")):
        monkeypatch.delenv(name.lower(), raising=False)
        monkeypatch.setenv(name, value)
    url, why = "http://arena.example", "it does not answer, or the proxy does not"
    assert said_by(url) == [f"No connection to {url} ({why}); trying again."]


def test_a_chunked_answer_is_read_whole_up_to_a_limit() -> None:
    for many, digest in ((2, Digest(7, "ab" * 32)), (100_000, None)):
        text = json.dumps({"entries": 7, "digest": "ab" * 32, "more": "x" * many}).encode()
        chunks = [b"%x\r\n%b\r\n" % (len(part), part) for part in (text[:40], text[40:], b"")]
        about = hostile.answer(b"".join(chunks), "Transfer-Encoding: chunked", length=-1)
        with hostile.running(hostile.first, about) as url:
            assert ask_digest(url) == digest


def test_a_program_that_cannot_begin_says_why(gateway: Gateway) -> None:
    for words, code, says in (
        ((gateway.url, "bot", "--url", gateway.url), 2, "either its --url or its command"),
        ((gateway.url,), 2, "its --url or its command"),
        (("arena.example", "bot"), 2, "is not the URL of a server"),
        ((gateway.url, bot("toy-0"), "--no-sandbox"), 1, "This token is not known here;"),
    ):
        returned, text = code_and_text("connect", *words, "--token", "0" * 64)
        assert (returned, says in text) == (code, True), text
