"""`stich serve` goes on answering other clients beside slow and silent ones."""

import resource

import pytest

from tests.support.service.connections import HEAD, ask_moves, connections
from tests.support.service.running import Running


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"", b""),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\n", b""),
        (ask_moves(b"{", 1000), b"HTTP/1.1 408"),
        (ask_moves(b"{", 100_000), b"HTTP/1.1 408"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", b"HTTP/1.1 408"),
    ],
    ids=["silent", "head", "body", "large-body", "chunked-body"],
)
def test_700_slow_clients_are_cut_off_and_keep_nobody_waiting(
    running: Running, sent: bytes, answer: bytes
) -> None:
    with connections(running.port, 700, sent) as slow:
        assert running.session.get(running.url + "/healthz", timeout=5).status_code == 200
        for connection in slow:  # each read waits until the service closes the connection
            received = b""
            while piece := connection.recv(65536):
                received += piece
            assert received[: len(answer)] == answer
            assert bool(received) == bool(answer)
    assert running.session.get(running.url + "/readyz", timeout=5).status_code == 200


@pytest.mark.slow
def test_600_bodies_beside_1200_silent_connections() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4096:
        pytest.skip("needs 4,096 open files: ulimit -Hn 4096")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4096), hard))
    try:
        with (
            Running() as running,
            connections(running.port, 1200) as silent,
            connections(running.port, 600, ask_moves(b"{", 1000)) as bodies,
        ):
            assert running.post("/v1/start", {"game": "dasan"})["state"]["phase"] == "auction"
            for connection in [*silent, *bodies]:
                while connection.recv(65536):
                    pass
            assert running.session.get(running.url + "/readyz", timeout=5).status_code == 200
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
