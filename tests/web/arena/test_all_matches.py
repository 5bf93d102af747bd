"""`/matches.jsonl`: all matches of a run as lines, made while they are sent."""

import io
import socket
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
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

BLOCKS = 200


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A finished run of many blocks, all with the same cards."""
    block = list(islice(played(cup()), 3))
    with unfinished(tmp_path_factory.mktemp("run"), cup(deals=BLOCKS)) as made:
        for number in range(1, BLOCKS + 1):
            for one in block:
                match = sha256(f"{number} {one.number}".encode()).hexdigest()[:12]
                made.add(replace(one, match=match, block=number, key=str(number)))
        made.finish()
        yield made


def lines_of(store: StoreReader | MatchFile) -> list[dict[str, object]]:
    answer = create_app(store).test_client().get("/matches.jsonl")
    assert answer.mimetype == "application/jsonl"
    return [msgspec.json.decode(line) for line in answer.data.splitlines()]


def test_all_matches_are_lines_as_stich_export_writes_them(store: Store) -> None:
    lines = lines_of(store)
    assert len(lines) == 3 * BLOCKS
    assert lines == exported(store, "matches")
    out = io.BytesIO()
    export(store, "matches", out)
    assert len(lines_of(MatchFile(out.getvalue().splitlines(), "file"))) == 3 * BLOCKS


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
        assert len(list(islice(pieces, 6))) == 6
        peaks.append(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_clients_that_leave_or_do_not_read_hinder_nobody(store: Store) -> None:
    port = find_port("127.0.0.1", 0)
    with (
        pages_served("127.0.0.1", port, run=str(store.folder)) as url,
        requests.Session() as session,
    ):
        session.trust_env = False
        ask = b"GET /matches.jsonl HTTP/1.1\r\nHost: x\r\n\r\n"
        for _ in range(2):  # together more than there are slots
            with connections(port, SLOTS // 2 + 1, ask, room=4096) as gone:
                for one in gone:
                    with suppress(ConnectionResetError):
                        one.recv(9, socket.MSG_WAITALL)
        with connections(port, 10, ask, room=4096) as unread:
            for one in unread:  # on a busy machine, a few are turned away
                with suppress(ConnectionResetError):
                    one.recv(9, socket.MSG_WAITALL)
            assert session.get(url, timeout=60).status_code == 200
            for _ in range(12):  # on a busy machine, those who left keep their slots for a while
                answer = session.get(f"{url}/matches.jsonl", timeout=60)
                if answer.status_code == 200:
                    break
            assert len(answer.content.splitlines()) == 3 * BLOCKS
