import re
import socket
import subprocess
import sys
from contextlib import closing, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from service.app import create_app
from service.metrics import Metrics
from service.settings import MULTIPROC_DIR, ConfigError, Settings
from serving.rsgi import SLOTS
from stich.commands import serve
from tests.support.prerequisites import needs_ipv6
from tests.support.service.connections import connections
from tests.support.service.running import Running
from tests.support.service.sealed import seal_keys

JSON = {"Content-Type": "application/json"}


def answer_to(running: Running, sent: bytes) -> bytes:
    with connections(running.port, 1) as (connection,), connection.makefile("rb") as received:
        with suppress(ConnectionError):  # it may be refused while it is still being sent
            connection.sendall(sent)
        with suppress(ConnectionError):
            return received.read()
    return b""


def test_a_client_that_sends_too_much_sees_the_answer(running: Running) -> None:
    sized: list[Any] = [(b" " * size, 413) for size in (1024 * 1024 + 1, 2_000_000, 8_000_000)]
    unsized = [
        (iter([b'{"game":', *[b" " * 65536] * pieces, b'"dasan"}']), status)
        for pieces, status in ((0, 200), (15, 200), (17, 413), (100, 413))
    ]
    for body, status in (*sized, *unsized):
        url = running.url + "/v1/start"
        answer = running.session.post(url, data=body, headers=JSON, timeout=30)
        assert answer.status_code == status


def test_an_unread_body_does_not_break_the_connection(running: Running) -> None:
    unread = (("PUT", "/v1/start", 405), ("POST", "/v1/nope", 404), ("GET", "/healthz", 200))
    with closing(HTTPConnection("127.0.0.1", running.port, timeout=30)) as connection:
        connection.connect()
        first = connection.sock

        def answered(method: str, path: str, body: Any) -> tuple[int, Any]:
            connection.request(method, path, body, JSON)
            response = connection.getresponse()
            response.read()
            assert connection.sock is first
            return response.status, response.headers["Connection"]

        for method, path, status in unread * 10:
            # the last body has no length
            for body in (b" " * 60_000, b" " * 2_000_000, iter([b" " * 60_000] * 2)):
                assert answered(method, path, body) == (status, None)
                assert answered("POST", "/v1/start", b'{"game": "dasan"}') == (200, None)


def test_the_connection_closes_if_a_body_is_left_on_it(running: Running) -> None:
    head = b"Host: x\r\nContent-Type: application/json\r\nContent-Length: 1000000000000\r\n\r\n{"
    for path, status in ((b"/v1/nope", b"404"), (b"/v1/start", b"413")):
        answer = answer_to(running, b"POST " + path + b" HTTP/1.1\r\n" + head)
        assert answer.startswith(b"HTTP/1.1 " + status)
        assert b"\r\nconnection: close\r\n" in answer.lower()


def test_odd_requests_are_answered_or_refused_with_an_empty_body(running: Running) -> None:
    gets = (b"GET /\xff\xfe", b"GET /v1/games/%c3%28", b"GET http://elsewhere.example/v1/games")
    for line in (*gets, b"OPTIONS *", b"BREW /v1/games"):
        answer = answer_to(running, line + b" HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n")
        assert re.match(rb"HTTP/1\.1 [1-4]", answer), answer
    for head in (b"POST", b"POST /v1/start HTTP/1.1\r\nHost: x\r\nContent-Length: -1"):
        answer = answer_to(running, head + b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 4")
        assert answer.endswith(b"\r\n\r\n")
    answer_to(running, b"GET /healthz HTTP/1.1\r\nX: " + b"x" * 2_000_000 + b"\r\n\r\n")
    assert running.session.get(running.url + "/healthz", timeout=30).status_code == 200


def test_a_port_in_use_is_one_sentence_and_exit_1(running: Running) -> None:
    result = CliRunner().invoke(serve.serve, ["--port", str(running.port)])
    assert (result.exit_code, result.output.count("\n")) == (1, 1)
    words = f"Cannot listen on port {running.port} of 127.0.0.1: Address already in use"
    assert result.output == f"Error: {words}; choose another --port.\n"


def test_a_wrong_setting_is_refused_under_any_server() -> None:
    for name, value in (
        ("STICH_MAX_BODY", "0"),
        ("STICH_LOG_FORMAT", "xml"),
        ("STICH_ACCESS_LOG", "yes"),
        (MULTIPROC_DIR, "/nowhere"),
    ):
        with pytest.raises(ConfigError, match=name):
            Settings.from_environ({name: value})
        if name in ("STICH_MAX_BODY", MULTIPROC_DIR):  # the others are checked as options
            result = CliRunner().invoke(serve.serve, [], env={name: value})
            assert (result.exit_code, name in result.output) == (2, True)


def test_a_larger_body_than_the_setting_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for size, status in (("10", 413), ("100", 200)):
        monkeypatch.setenv("STICH_MAX_BODY", size)
        client = create_app().test_client()
        assert client.post("/v1/start", json={"game": "dasan"}).status_code == status


def test_a_misspelt_setting_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[str] = []
    monkeypatch.setattr(serve, "run", lambda *arguments: logged.extend(arguments[-1]))
    monkeypatch.setenv("STICH_MAXBODY", "10")
    monkeypatch.setenv("STICH_SEAL_KEYS", seal_keys(one=bytes(32)))
    assert CliRunner().invoke(serve.serve, ["--port", "0"]).exit_code == 0
    assert [line.split()[0] for line in logged] == ["STICH_MAXBODY"]


@needs_ipv6
def test_it_serves_on_ipv6() -> None:
    with Running("--host", "::1") as running:
        assert running.url.startswith("http://[::1]:")


def test_the_gauges_of_a_worker_that_is_gone_are_dropped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(MULTIPROC_DIR, str(tmp_path))
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (tmp_path / f"gauge_livesum_{dead.pid}.db").touch()
    assert Metrics().text() == b""
    assert not list(tmp_path.iterdir())


def test_two_workers_count_as_one() -> None:
    with Running("--workers", "2") as running:
        requests, url, headers = 40, running.url + "/v1/games", {"Connection": "close"}
        for _ in range(requests):
            assert running.session.get(url, headers=headers, timeout=30).status_code == 200
        for _ in range(4):
            text = running.session.get(running.url + "/metrics", timeout=30).text
            lines = [line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#"]
            samples = {name: float(value) for name, value in lines}
            listed = '{method="GET",route="/v1/games",status="200"}'
            assert samples[f"stich_http_requests_total{listed}"] == requests
            assert samples["stich_large_requests_in_flight"] == 0
            # The other worker may not have started yet.
            assert samples["stich_large_requests_limit"] in (SLOTS, 2 * SLOTS)
        sealed = [running.post("/v1/sealed/start", {"game": "dasan"})["sealed"] for _ in range(4)]
        for token in sealed:  # one worker opens what another has sealed
            assert running.post("/v1/sealed/view", {"sealed": token})["view"]["seat"] is None
        code, log = running.stop()
        assert (code, log.count("\n")) == (0, 1)
        assert "set STICH_SEAL_KEYS" in log


def test_workers_end_even_if_the_command_is_killed() -> None:
    with Running("--workers", "2") as running:
        running.process.kill()
        # the workers hold the other end of its standard output as long as they live
        assert running.process.stdout is not None
        running.process.stdout.read()
        with socket.socket() as again:
            again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            again.bind(("127.0.0.1", running.port))
            again.listen(1)
        running.process.wait()
