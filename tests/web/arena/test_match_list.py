"""Lists of matches: the page with its filters, and `/matches.jsonl` with all of them."""

import io
import re
import socket
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from hashlib import sha256
from html import unescape
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
import pytest
import requests
import sqlalchemy as sa
from flask.testing import FlaskClient
from granian import Granian
from granian.constants import Interfaces
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from werkzeug.exceptions import TooManyRequests

from serving import rsgi
from stich.processes import find_port
from tests.support.machine import until
from tests.support.service.connections import connections
from tests.support.tournament.cups import is_served
from tests.support.tournament.played import cup, exported, played, run, unfinished
from tournament.records import FAULT_KINDS, MatchSummary, Pause
from tournament.results.files.export import export
from tournament.results.files.match_file import MatchFile
from tournament.store.reader import StoreReader
from tournament.store.store import Store
from tournament.store.tables import details
from web.arena.app import create_app
from web.arena.match_list import match_pieces

NAMES = ("ann", "斗" * 64, 'a/"b"?c&d', "100 %", "lost")
LINK = re.compile(r'href="/matches/([0-9a-f]+)"')
Query = dict[str, str | int | None]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    of = cup(NAMES, format="swiss", deals=14)
    with run(tmp_path_factory.mktemp("run"), of, {"ann": 3, NAMES[1]: 1}) as made:
        yield made


@pytest.fixture(scope="module")
def client(store: Store) -> FlaskClient:
    return create_app(store).test_client()


def listed(client: FlaskClient, query: Query) -> list[str]:
    asked = {name: value for name, value in query.items() if value is not None}
    page = client.get(f"/matches?{urlencode(asked)}").text
    matches = LINK.findall(page)
    while link := re.search(r'rel="next" href="([^"]+)"', page):
        page = client.get(unescape(link[1])).text
        matches += LINK.findall(page)
    return matches


def fits(match: MatchSummary, query: Query) -> bool:
    bot, faults, result = (query[name] for name in ("bot", "faults", "result"))
    seats = [seat for seat, name in enumerate(match.seating) if bot in (None, name)]
    counts = [sum(match.faults[seat][kind] for seat in seats) for kind in range(len(FAULT_KINDS))]
    kinds = [kind for kind, count in zip(FAULT_KINDS, counts, strict=True) if count]
    won = any(match.adjusted[seat] == max(match.adjusted) for seat in seats)
    return (
        bool(seats)
        and query["round"] in (None, match.round)
        and query["block"] in (None, match.block)
        and (faults is None or (bool(kinds) if faults == "any" else faults in kinds))
        and (result is None or bot is None or won == (result == "won"))
    )


VALUES: dict[str, tuple[str | int | None, ...]] = {
    "bot": (None, *NAMES),
    "round": (None, 1, 2, 3),
    "block": (None, None, None, 1, 99),
    "faults": (None, "any", *map(str, FAULT_KINDS)),
    "result": (None, "won", "lost"),
}


@settings(max_examples=25, deadline=None)
@given(query=st.fixed_dictionaries({name: st.sampled_from(of) for name, of in VALUES.items()}))
def test_a_list_has_the_matches_that_fit_newest_first(
    store: Store, client: FlaskClient, query: Query
) -> None:
    expected = [match.match for match in store.summaries() if fits(match, query)]
    assert listed(client, query) == expected[::-1]


def test_a_form_with_nothing_chosen_shows_the_first_fifty_of_all(client: FlaskClient) -> None:
    empty = client.get("/matches?bot=&result=&faults=&round=&block=&q=1")
    assert empty.headers["ETag"] == client.get("/matches").headers["ETag"]
    assert ("page 1 of 2" in empty.text, len(LINK.findall(empty.text))) == (True, 50)
    chosen = client.get(f"/matches?bot={quote(NAMES[1])}&faults=any").text
    assert f" selected>{NAMES[1]}</option>" in chosen
    assert '<option value="any" selected>' in chosen


def test_a_careless_address_is_told_what_to_write(client: FlaskClient) -> None:
    for query, status, says in (
        ("bot=nobody", 404, "There is no bot “nobody” in this cup"),
        ("page=3", 404, "There is no page 3: these matches have 2 pages."),
        ("page=-1", 400, "page=-1 is not known; write a number such as 1."),
        ("round=٣", 400, "round=٣ is not known"),
        ("block=" + "9" * 4000, 400, "write a number"),
        ("faults=<b>", 400, "faults=&lt;b&gt; is not known; write one of any, timeout"),
        ("bot=ann&result=drawn", 400, "write one of won, lost."),
    ):
        answer = client.get(f"/matches?{query}")
        assert answer.status_code == status, query
        title = "There is no such page" if status == 404 else "The request is not valid"
        assert f"<h1>{title}</h1>" in answer.text
        assert says in answer.text
        assert len(answer.text) < 4000


BLOCKS = 120


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
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


def test_all_matches_are_lines_as_stich_export_writes_them(large: Store) -> None:
    lines = lines_of(large)
    assert len(lines) == 3 * BLOCKS
    assert lines == exported(large, "matches")
    file = io.BytesIO()
    export(large, "matches", file)
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


def test_the_memory_for_lines_does_not_grow(large: Store) -> None:
    pieces = match_pieces(large)
    next(pieces)
    peaks = []
    tracemalloc.start()
    for _ in range(2):
        tracemalloc.reset_peak()
        assert len(list(islice(pieces, 4))) == 4
        peaks.append(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_a_busy_arena_says_when_to_try_again(large: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object) -> None:
        raise TooManyRequests(retry_after=10)

    monkeypatch.setattr("flask.Request.get_data", busy)
    client = create_app(large).test_client()
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


def test_clients_that_leave_or_do_not_read_hinder_nobody(large: Store) -> None:
    port = find_port("127.0.0.1", 0)
    ask = b"GET /matches.jsonl HTTP/1.1\r\nHost: x\r\n\r\n"
    server = get_context("spawn").Process(target=serve, args=(str(large.folder), port))
    server.start()
    try:
        until(lambda: is_served(port))
        for last in (False, False, True):  # together more clients than there are slots
            with connections(port, 3, ask, room=4096) as opened, requests.Session() as session:
                assert {client.recv(9, socket.MSG_WAITALL) for client in opened} == {b"HTTP/1.1 "}
                session.trust_env = False
                if last:
                    answer = session.get(f"http://127.0.0.1:{port}/matches.jsonl")
        assert len(answer.text.splitlines()) == 3 * BLOCKS
    finally:
        server.terminate()
        server.join()
