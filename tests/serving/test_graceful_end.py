"""On SIGTERM, `stich serve` answers the requests that it has, then exits with 0."""

import json
import signal
import socket
from http.client import HTTPResponse

import pytest

from tests.support.service.connections import ask_moves
from tests.support.service.contract import LONGEST, moves
from tests.support.service.running import Running


def ask(running: Running, body: bytes, sent: int | None = None) -> socket.socket:
    """A connection that has sent a request for legal moves, or only the first bytes of its body."""
    connection = socket.create_connection(("127.0.0.1", running.port), timeout=60)
    connection.sendall(ask_moves(body[:sent], len(body)))
    return connection


def answer(connection: socket.socket) -> HTTPResponse:
    response = HTTPResponse(connection)
    response.begin()
    return response


@pytest.mark.parametrize("workers", ["1", "2"])
def test_running_requests_are_answered(workers: str) -> None:
    body = moves(LONGEST, "7c", "7d")
    with Running("--workers", workers) as running:
        asked = [ask(running, body) for _ in range(20)]
        half = ask(running, body, sent=10)
        first = answer(asked[0])  # they have been accepted by now, and most of them wait
        running.process.send_signal(signal.SIGTERM)
        half.sendall(body[10:])
        for response in [first, *map(answer, [*asked[1:], half])]:
            assert response.status == 200
            assert len(json.loads(response.read())["moves"]) == 31_122
        for connection in [*asked, half]:
            connection.close()
        assert running.process.wait(timeout=30) == 0
        with pytest.raises(ConnectionRefusedError):
            ask(running, body)


@pytest.mark.slow
def test_clients_that_do_nothing_do_not_keep_it_from_ending() -> None:
    """Silent connections are closed at once; a body gets the rest of its ten seconds."""
    body = moves(LONGEST, "7c", "7d")
    with Running() as running:
        silent, idle = ask(running, b"", sent=0), ask(running, b"{}")
        assert answer(idle).status == 422
        assert answer(silent).status == 400
        slow = ask(running, body, sent=10)
        assert running.session.get(running.url + "/healthz", timeout=30).status_code == 200
        running.process.send_signal(signal.SIGTERM)
        assert answer(slow).status == 408
        assert running.process.wait(timeout=30) == 0
        for connection in (silent, idle, slow):
            connection.close()
