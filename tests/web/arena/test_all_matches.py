"""`/matches.jsonl`: all matches of a run as JSON lines, made while they are sent."""

import io
import socket
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import msgspec
import pytest
import requests
import sqlalchemy as sa
from granian import Granian
from granian.constants import Interfaces
from prometheus_client import CollectorRegistry
from werkzeug.exceptions import TooManyRequests

from serving import rsgi
from stich.processes import find_port
from tests.support.machine import until
from tests.support.service.connections import connections
from tests.support.tournament.cups import is_served
from tests.support.tournament.played import cup, exported, played, unfinished
from tournament.records import Pause
from tournament.results.files.export import export
from tournament.results.files.match_file import MatchFile
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


def test_open_blocks_are_left_out_and_damage_is_the_last_line(tmp_path: Path) -> None:
    with unfinished(tmp_path, cup(), list(played(cup()))[:4]) as under_way:
        assert {line["block"] for line in lines_of(under_way)} == {1}
        under_way.decide(Pause(why="Lunch."))
        assert len(lines_of(under_way)) == 3
        with under_way._engine.begin() as connection:
            connection.execute(sa.delete(details))
        (line,) = lines_of(under_way)
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


def test_a_busy_arena_says_when_to_try_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object) -> None:
        raise TooManyRequests(retry_after=10)

    monkeypatch.setattr("flask.Request.get_data", busy)
    client = create_app(store).test_client()
    answer = client.get("/matches.jsonl", headers={"Accept-Language": "de"})
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "10")
    assert "<h1>Die Arena ist ausgelastet</h1>\n<p>Viele Leser" in answer.text


def few_slots(folder: str, _target: str) -> Any:
    """The pages of a run, with four slots, for which clients wait long on a busy machine."""
    rsgi.SLOTS, rsgi.SLOT_SECONDS = 4, 60.0  # type: ignore[misc]
    app = create_app(StoreReader.open(folder))
    return rsgi.RsgiFront(app, 1024, CollectorRegistry(), on_loop=False, threads=2)


def serve(folder: str, port: int) -> None:
    server = Granian("", port=port, interface=Interfaces.RSGI, workers_kill_timeout=1)
    server.serve(target_loader=partial(few_slots, folder))


def test_clients_that_leave_or_do_not_read_hinder_nobody(store: Store) -> None:
    port = find_port("127.0.0.1", 0)
    ask = b"GET /matches.jsonl HTTP/1.1\r\nHost: x\r\n\r\n"
    server = get_context("spawn").Process(target=serve, args=(str(store.folder), port))
    server.start()
    try:
        until(lambda: is_served(port))
        for _ in range(3):  # together more clients than there are slots
            with connections(port, 3, ask, room=4096) as opened, requests.Session() as session:
                assert {client.recv(9, socket.MSG_WAITALL) for client in opened} == {b"HTTP/1.1 "}
                session.trust_env = False
                lines = session.get(f"http://127.0.0.1:{port}/matches.jsonl").text.splitlines()
            assert len(lines) == 3 * BLOCKS
    finally:
        server.terminate()
        server.join()
