"""Connections: names with several addresses, TLS, and the deadline with TLS."""

import json
import shutil
import socket
import ssl
import subprocess
from contextlib import closing
from email.utils import formatdate
from pathlib import Path
from unittest.mock import Mock

import pytest

from tests.support.bots.misbehaving import REQUEST, moves
from tools import hostile
from tournament.bot.client import dial_url
from tournament.bot.launch import LaunchSettings
from tournament.bot.protocol import Choice
from tournament.bot.url_bot import Failure, HttpBot
from tournament.config.cup import Bot, Cup, Limits
from tournament.records import FaultKind
from tournament.run.workers.bot_pool import BotPool


def ask(url: str, seconds: float = 60) -> Choice | Failure:
    with closing(HttpBot(url, dial_url(url))) as bot:
        return bot.move(REQUEST, seconds)


def failure(url: str, seconds: float = 60) -> Failure:
    outcome = ask(url, seconds)
    assert isinstance(outcome, Failure)
    return outcome


def test_a_name_with_several_addresses_is_tried_through() -> None:
    with hostile.running(hostile.first) as url:
        assert isinstance(ask(url.replace("127.0.0.1", "localhost")), Choice)


def test_after_the_deadline_no_other_address_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = [(family, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 9)) for family in (2, 99)]
    monkeypatch.setattr(socket, "getaddrinfo", Mock(return_value=addresses))
    assert failure("http://two.example", 0).kind is FaultKind.TIMEOUT


def test_an_unknown_name_is_looked_up_for_each_match(monkeypatch: pytest.MonkeyPatch) -> None:
    lookup = Mock(side_effect=socket.gaierror(socket.EAI_AGAIN, "no answer"))
    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    cup = Cup("Cup", "doudizhu", 1, (Bot("slow", url="http://slow.example"),))
    bot_pool = BotPool(cup, LaunchSettings(Limits(), start_ms=1))
    for looked_up in (1, 2):
        (player,) = bot_pool.seat(["slow"])
        outcome = player.move(REQUEST, 60)
        assert isinstance(outcome, Failure)
        assert outcome.kind is FaultKind.UNREACHABLE
        assert outcome.detail == "Its host name cannot be resolved: no answer."
        assert lookup.call_count == looked_up


def test_a_name_that_no_host_can_have_is_not_known() -> None:
    with pytest.raises(OSError, match="not the name of a host"):
        dial_url(f"http://{'a' * 64}.example")


def test_a_path_in_the_url_goes_before_ours() -> None:
    def note(connection: socket.socket, method: str, path: str, body: bytes) -> None:
        connection.sendall(hostile.answer(json.dumps({"move": path}).encode()))

    with hostile.running(hostile.first, every=note) as url:
        assert getattr(ask(f"{url}/my/bot/"), "move", None) == "/my/bot/move"


@pytest.mark.parametrize(
    "after", ["0", pytest.param(formatdate(usegmt=True), id="now"), "Mon, 01 Jan 2001 00:00:00"]
)
@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Busy"])
def test_a_busy_bot_is_asked_again_when_it_says_so(after: str, status: str) -> None:
    with hostile.connected(hostile.busy(f"retry-after: {after}", status=status)) as bot:
        outcomes = [bot.move(REQUEST, 60) for _ in range(2)]
    assert [getattr(outcome, "move", outcome) for outcome in outcomes] == ["pass", "pass"]
    assert all(outcome.elapsed_s >= 0.05 for outcome in outcomes)  # it is not pestered


def test_a_bot_that_is_busy_too_long_is_late_at_once() -> None:
    date = "Fri, 31 Dec 9999 23:59:59"
    for after in ("61", "9" * 5000, f"{date} GMT", f"{date} -2359"):
        with hostile.running(hostile.busy(f"Retry-After: {after}")) as url:
            late = failure(url, 60)
        assert (late.kind, late.answer.status) == (FaultKind.TIMEOUT, 429)
        assert "busy (429)" in late.detail
        assert late.elapsed_s < 60
    always = hostile.sends(hostile.answer(b"", "Retry-After: 0", status="503 Busy"))
    with hostile.running(always) as url:
        assert failure(url, 0.2).kind is FaultKind.TIMEOUT


def test_a_bot_that_does_not_say_when_to_ask_again_is_not_busy() -> None:
    for header in ("X: y", "Retry-After: soon", "Retry-After: -1"):
        assert moves(hostile.busy(header)) == ["It answered with status 429, not 200."]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    words += " -addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem"
    subprocess.run(["openssl", *words.split()], cwd=folder, check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_text((folder / "key.pem").read_text() + (folder / "cert.pem").read_text())
    return both


def ask_by_tls(certificate: Path, handle: hostile.Handler, seconds: float) -> Choice | Failure:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    listener = context.wrap_socket(socket.create_server(("127.0.0.1", 0)), server_side=True)
    with hostile.serving(listener, handle) as port:
        return ask(f"https://localhost:{port}", seconds)


def test_tls_needs_a_trusted_certificate_and_keeps_the_deadline(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distrusted = ask_by_tls(certificate, hostile.first, 60)
    assert isinstance(distrusted, Failure)
    assert distrusted.kind is FaultKind.UNREACHABLE
    assert "certificate verify failed" in distrusted.detail
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert isinstance(ask_by_tls(certificate, hostile.first, 60), Choice)
    for how in ("drip-body", "hang"):
        late = ask_by_tls(certificate, hostile.WAYS[how][0], 0.3)
        assert isinstance(late, Failure)
        assert late.kind is FaultKind.TIMEOUT


def test_a_server_that_never_shakes_hands_is_late() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        assert failure(url, 0.1).kind is FaultKind.TIMEOUT
