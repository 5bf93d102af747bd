"""On SIGTERM, `stich serve` answers the requests that it has, then exits with 0."""

import json
import signal

import pytest

from tests.support.service.connections import answer, ask_moves, connections
from tests.support.service.contract import LONGEST, moves
from tests.support.service.running import Running

BODY = moves(LONGEST, "7c", "7d")
HALF = ask_moves(BODY[:10], len(BODY))


@pytest.mark.parametrize("workers", ["1", "2"])
def test_running_requests_are_answered(workers: str) -> None:
    with (
        Running("--workers", workers) as running,
        connections(running.port, 20, ask_moves(BODY)) as whole,
        connections(running.port, 1, HALF) as (half,),
    ):
        first = answer(whole[0])  # they have been accepted by now, and most of them wait
        running.process.send_signal(signal.SIGTERM)
        half.sendall(BODY[10:])
        for response in [first, *map(answer, [*whole[1:], half])]:
            assert response.status == 200
            assert len(json.loads(response.read())["moves"]) == 31_122
        assert running.process.wait(timeout=30) == 0
        with pytest.raises(ConnectionRefusedError), connections(running.port, 1):
            pass


@pytest.mark.slow
def test_clients_that_do_nothing_do_not_keep_it_from_ending() -> None:
    """Silent connections are closed at once; a body gets the rest of its ten seconds."""
    with (
        Running() as running,
        connections(running.port, 1, ask_moves(b"")) as (silent,),
        connections(running.port, 1, ask_moves(b"{}")) as (idle,),
        connections(running.port, 1, HALF) as (slow,),
    ):
        assert answer(idle).status == 422
        assert answer(silent).status == 400
        assert running.session.get(running.url + "/healthz", timeout=30).status_code == 200
        running.process.send_signal(signal.SIGTERM)
        assert answer(slow).status == 408
        assert running.process.wait(timeout=30) == 0
