"""`/matches.jsonl`: all matches of a run as JSON lines, made while they are sent."""

import io
import socket
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from pathlib import Path

import msgspec
import pytest
import requests
import sqlalchemy as sa

from serving.rsgi import SLOTS
from stich.processes import find_port, pages_served
from tests.support.connections import connections
from tests.support.played import cup, exported, played, unfinished
from tournament.records import Pause
from tournament.results.export import export
from tournament.results.match_file import MatchFile
from tournament.store.reader import StoreReader
from tournament.store.store import Store
from tournament.store.tables import details
from web.arena.app import create_app
from web.arena.match_list import match_pieces

BLOCKS = 120


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A finished run of many blocks, all with the same cards."""
    block = list(islice(played(cup()), 3))
    with unfinished(tmp_path_factory.mktemp("run"), cup(deals=BLOCKS)) as store:
        for number in range(1, BLOCKS + 1):
            for record in block:
                match = sha256(f"{number} {record.number}".encode()).hexdigest()[:12]
                store.add(replace(record, match=match, block=number, key=str(number)))
        store.finish()
        yield store


def lines_of(store: StoreReader | MatchFile) -> list[dict[str, object]]:
    answer = create_app(store).test_client().get("/matches.jsonl")
    assert answer.mimetype == "application/jsonl"
    return [msgspec.json.decode(line) for line in answer.data.splitlines()]


def test_all_matches_are_lines_as_stich_export_writes_them(store: Store) -> None:
    lines = lines_of(store)
    assert len(lines) == 3 * BLOCKS
    assert lines == exported(store, "matches")
    file = io.BytesIO()
    export(store, "matches", file)
    assert len(lines_of(MatchFile(file.getvalue().splitlines(), "file"))) == 3 * BLOCKS


def test_matches_with_cards_that_are_still_played_are_left_out(tmp_path: Path) -> None:
    with unfinished(tmp_path, cup(), list(played(cup()))[:4]) as under_way:
        assert {line["block"] for line in lines_of(under_way)} == {1}
        under_way.decide(Pause(why="Lunch."))
        assert len(lines_of(under_way)) == 3


def test_a_store_that_cannot_be_read_on_says_so_in_the_last_line(tmp_path: Path) -> None:
    with unfinished(tmp_path, cup(), list(played(cup()))) as damaged:
        with damaged._engine.begin() as connection:
            connection.execute(sa.delete(details))
        (line,) = lines_of(damaged)
    assert "is damaged" in str(line["error"])


def test_the_memory_for_lines_does_not_grow(store: Store) -> None:
    pieces = match_pieces(store)
    next(pieces)
    peaks = []
    tracemalloc.start()
    for _ in range(2):
        tracemalloc.reset_peak()
        assert len(list(islice(pieces, 4))) == 4
        peaks.append(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def read_a_little(port: int, clients: int) -> ExitStack:
    """Connect clients that ask for all matches and read nine bytes. Close the result to let them
    leave."""
    ask = b"GET /matches.jsonl HTTP/1.1\r\nHost: x\r\n\r\n"
    stack = ExitStack()
    for client in stack.enter_context(connections(port, clients, ask, room=4096)):
        with suppress(ConnectionResetError):  # on a busy machine, a few are turned away
            client.recv(9, socket.MSG_WAITALL)
    return stack


def test_clients_that_leave_or_do_not_read_hinder_nobody(store: Store) -> None:
    port = find_port("127.0.0.1", 0)
    with (
        pages_served("127.0.0.1", port, run=str(store.folder)) as url,
        requests.Session() as session,
    ):
        session.trust_env = False
        for _ in range(2):  # together more clients than there are slots
            read_a_little(port, SLOTS // 2 + 1).close()
        with read_a_little(port, 10):
            assert session.get(url).status_code == 200
            # on a busy machine, clients that left keep their slots for a while
            answers = (session.get(f"{url}/matches.jsonl") for _ in range(100))
            whole = next(answer.text for answer in answers if answer.status_code == 200)
        assert len(whole.splitlines()) == 3 * BLOCKS
