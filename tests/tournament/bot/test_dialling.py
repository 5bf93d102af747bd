"""Connections: names with several addresses, TLS, and the same deadline over it."""

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.tournament import hostile
from tournament.bot.http_client import dial_each, dial_inet
from tournament.bot.player import Failure, HttpBot, dial_url
from tournament.bot.process import LaunchSettings
from tournament.config import Bot, Cup, Limits
from tournament.records import FaultKind
from tournament.run.bot_pool import BotPool

REQUEST = b'{"turn": 1, "moves": ["pass"]}'


def asked(url: str, seconds: float = 20) -> str:
    bot = HttpBot(url, dial_url(url))
    try:
        return bot.move(REQUEST, seconds).move
    finally:
        bot.close()


def test_a_name_with_several_addresses_is_tried_through_and_remembered() -> None:
    with hostile.running(hostile.first) as url:
        port = int(url.rpartition(":")[2])
        assert asked(f"http://localhost:{port}") == "pass"
        tried: list[str] = []

        def refuses(deadline: float):  # type: ignore[no-untyped-def]
            tried.append("refused")
            raise ConnectionRefusedError

        dials = [refuses, dial_inet(("127.0.0.1", port), socket.AF_INET)]
        bot = HttpBot(url, dial_each(dials))
        for _ in range(3):
            assert bot.move(REQUEST, 20).move == "pass"
            bot.close()
        assert tried == ["refused"]


def test_where_no_address_answers_it_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(Failure, match="No connection: Connection refused") as failure:
        asked(f"http://127.0.0.1:{port}")
    assert failure.value.kind is FaultKind.UNREACHABLE


def test_a_name_that_nobody_looks_up_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    never, tried = threading.Event(), []

    def hangs(host: str, *_: object, **__: object) -> None:
        tried.append(host)
        never.wait()

    monkeypatch.setattr(socket, "getaddrinfo", hangs)
    bots = (Bot("slow", url="http://slow.example"),)
    cup = Cup("Cup", "doudizhu", 1, bots)
    bot_pool = BotPool(cup, LaunchSettings(Limits(), start_ms=1))
    for _ in range(3):
        (player,) = bot_pool.seat(["slow"])
        with pytest.raises(Failure, match="its name was not looked up within") as failure:
            player.move(REQUEST, 20)
        assert failure.value.kind is FaultKind.UNREACHABLE
    assert tried == ["slow.example"]
    never.set()


def test_a_name_that_no_host_can_have_is_not_known() -> None:
    with pytest.raises(OSError, match="not the name of a host"):
        dial_url(f"http://{'a' * 64}.example")


def test_a_path_in_the_url_goes_before_ours() -> None:
    paths = []

    def note(connection: socket.socket, request: object) -> None:
        paths.append(request)
        connection.sendall(hostile.answer(b'{"move": "pass"}'))

    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                note(connection, connection.makefile("rb").readline())

        thread = threading.Thread(target=serve)
        thread.start()
        assert asked(f"http://127.0.0.1:{listener.getsockname()[1]}/my/bot/") == "pass"
        thread.join()
    assert paths == [b"POST /my/bot/move HTTP/1.1\r\n"]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for localhost, with its key in one file."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    words += " -addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem"
    subprocess.run(["openssl", *words.split()], cwd=folder, check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_text((folder / "key.pem").read_text() + (folder / "cert.pem").read_text())
    return both


@contextmanager
def secure(certificate: Path, handle: hostile.Handler) -> Iterator[str]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    listener = context.wrap_socket(socket.create_server(("127.0.0.1", 0)), server_side=True)
    with hostile.serving(listener, handle) as port:
        yield f"https://localhost:{port}"


def test_tls_keeps_the_deadline(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with secure(certificate, hostile.first) as url:
        assert asked(url) == "pass"
    for how in ("drip-body", "hang"):
        with secure(certificate, hostile.WAYS[how][0]) as url, pytest.raises(Failure) as failure:
            asked(url, 0.5)
        assert failure.value.kind is FaultKind.TIMEOUT


def test_a_server_that_never_shakes_hands_is_late() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(Failure) as failure:
            asked(url, 0.3)
    assert failure.value.kind is FaultKind.TIMEOUT


def test_a_certificate_that_nobody_vouches_for_is_unreachable(certificate: Path) -> None:
    distrust = pytest.raises(Failure, match="certificate verify failed")
    with secure(certificate, hostile.first) as url, distrust as failure:
        asked(url)
    assert failure.value.kind is FaultKind.UNREACHABLE
