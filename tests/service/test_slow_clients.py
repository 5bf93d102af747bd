"""Slow and silent clients against `stich serve` as it is: the service goes on answering others."""

from __future__ import annotations

import resource
import socket
from collections.abc import Iterator

import pytest

from tests.service.running import Running

HEAD = b"POST /v1/moves HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with Running() as one:
        yield one


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"", b""),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\n", b""),
        (HEAD + b"Content-Length: 1000\r\n\r\n{", b"HTTP/1.1 408"),
        (HEAD + b"Content-Length: 100000\r\n\r\n{", b"HTTP/1.1 408"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", b"HTTP/1.1 408"),
    ],
    ids=["silent", "head", "body", "large-body", "chunked-body"],
)
def test_700_slow_clients_are_cut_off_and_keep_nobody_waiting(
    running: Running, sent: bytes, answer: bytes
) -> None:
    host, port = running.url.removeprefix("http://").split(":")
    slow = [socket.create_connection((host, int(port)), timeout=60) for _ in range(700)]
    try:
        for connection in slow:
            connection.sendall(sent)
        assert running.session.get(running.url + "/healthz", timeout=5).status_code == 200
        for connection in slow:  # each read waits until the service closes the connection
            received = b""
            while piece := connection.recv(65536):
                received += piece
            assert received[: len(answer)] == answer
            assert bool(received) == bool(answer)
    finally:
        for connection in slow:
            connection.close()
    assert running.session.get(running.url + "/readyz", timeout=5).status_code == 200


@pytest.mark.slow
def test_600_bodies_beside_1200_silent_connections() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4096:
        pytest.skip("needs 4,096 open files: ulimit -Hn 4096")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4096), hard))
    slow: list[socket.socket] = []
    try:
        with Running() as running:
            host, port = running.url.removeprefix("http://").split(":")
            for number in range(1800):
                slow.append(socket.create_connection((host, int(port)), timeout=60))
                if number % 3 == 0:
                    slow[-1].sendall(HEAD + b"Content-Length: 1000\r\n\r\n{")
            assert running.post("/v1/start", {"game": "dasan"})["state"]["phase"] == "auction"
            for connection in slow:
                while connection.recv(65536):
                    pass
            assert running.session.get(running.url + "/readyz", timeout=5).status_code == 200
    finally:
        for connection in slow:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
