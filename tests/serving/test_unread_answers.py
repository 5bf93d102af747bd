"""Clients that ask `stich serve` for the largest answers and read none of them."""

import json
import select
import socket
import sys
from collections import Counter
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

import games
from serving.rsgi import SLOTS
from tests.support.games.zhengfen import wire
from tests.support.service.connections import answer, ask_moves, connections
from tests.support.service.contract import LONGEST, moves
from tests.support.service.running import Running

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

MEBIBYTE = 1024 * 1024
ALL_CARDS = "".join(rank + suit for rank in "456789TJQKA2" for suit in "cdhs") + "BjRj"
LONG = {"state": wire([LONGEST, "7c", "7d"])}
SHORT = {"state": games.get("doudizhu").start(3, "short", {}).to_dict()}


def memory(running: Running) -> int:
    """The resident memory of the only worker, in bytes."""
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


@pytest.mark.parametrize(
    ("hands", "status", "mebibytes"),
    [((LONGEST, "7c", "7d"), 200, 250), ((ALL_CARDS, "3c", "3d"), 422, 50)],
    ids=["long-lists", "long-counts"],
)
def test_a_short_request_overtakes_150_long_ones(
    hands: tuple[str, ...], status: int, mebibytes: int
) -> None:
    """The long ones take two seconds together."""
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
