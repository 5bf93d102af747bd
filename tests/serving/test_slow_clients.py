import json
import resource
import select
import signal
import socket
import sys
from collections import Counter
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

import games
from serving.rsgi import SLOTS
from tests.support.games.zhengfen import wire
from tests.support.service.connections import HEAD, answer, ask_moves, connections
from tests.support.service.contract import LONGEST, moves
from tests.support.service.running import Running

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
MEBIBYTE = 1024 * 1024
ALL_CARDS = "".join(rank + suit for rank in "456789TJQKA2" for suit in "cdhs") + "BjRj"
LONG = {"state": wire([LONGEST, "7c", "7d"])}
SHORT = {"state": games.get("doudizhu").start(3, "short", {}).to_dict()}
BODY = moves(LONGEST, "7c", "7d")
HALF = ask_moves(BODY[:10], len(BODY))


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


def memory(running: Running) -> int:
    pid = running.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    sizes = [Path(f"/proc/{child}/statm").read_text().split() for child in children]
    return max(int(resident) * 4096 for _, resident, *_ in sizes)


def unread(
    running: Running, count: int, *hands: str
) -> AbstractContextManager[list[socket.socket]]:
    """Connections that ask for the moves of a Zheng Fen position, and do not read the answer."""
    return connections(running.port, count, ask_moves(moves(*hands)), room=4096)


def statuses(connections: list[socket.socket]) -> Counter[int]:
    """Wait for all answers; return their statuses, without reading the rest of them."""
    return Counter(
        int(connection.recv(12, socket.MSG_PEEK | socket.MSG_WAITALL)[9:])
        for connection in connections
    )


@on_linux
@pytest.mark.parametrize(
    ("hands", "status", "mebibytes"),
    [((LONGEST, "7c", "7d"), 200, 250), ((ALL_CARDS, "3c", "3d"), 422, 50)],
    ids=["long-lists", "long-counts"],
)
def test_a_short_request_overtakes_150_long_ones(
    hands: tuple[str, ...], status: int, mebibytes: int
) -> None:
    with Running() as running:
        before = memory(running)
        with unread(running, 150, *hands) as long:
            assert "moves" in running.post("/v1/moves", SHORT)
            assert len(select.select(long, [], [], 0)[0]) < 150, "all have been answered"
            assert statuses(long) == {status: 150}
            assert memory(running) - before < mebibytes * MEBIBYTE
            if status == 200:
                assert len(json.loads(answer(long[0]).read())["moves"]) == 31_122


@pytest.mark.parametrize("read", [0, 1])
def test_answers_that_are_abandoned_leave_no_slot_taken(running: Running, read: int) -> None:
    """Clients close the connection at once, or after the first byte of 250 KB."""
    with unread(running, SLOTS, LONGEST[:34], "7c", "7d") as lists:
        for connection in lists:
            if read:
                connection.recv(read)
            connection.close()
    for _ in range(3):  # and those that are read to the end leave none either
        assert len(running.post("/v1/moves", LONG)["moves"]) == 31_122


@on_linux
@pytest.mark.slow
def test_more_unread_answers_than_slots_are_refused_and_cut_off() -> None:
    with Running() as running:
        before = memory(running)
        with unread(running, SLOTS + 100, LONGEST, "7c", "7d") as lists:
            assert statuses(lists) == {200: SLOTS, 429: 100}
            assert memory(running) - before < 300 * MEBIBYTE
            assert "moves" in running.post("/v1/moves", SHORT)
            # they are cut off, so that there are slots again
            for _ in range(8):
                listed = running.post("/v1/moves", LONG)
                if listed.get("code") != "busy":
                    break
            assert len(listed["moves"]) == 31_122


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
