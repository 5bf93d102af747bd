from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from flask import Flask
from prometheus_client import CollectorRegistry
from werkzeug.datastructures import Headers

from service.app import create_app
from service.settings import MEBIBYTE
from serving import rsgi
from serving.rsgi import LARGE_ANSWER, LARGE_BODY, RsgiFront
from serving.work import PIECE, Pieces, need_long_work
from tests.support.games.zhengfen import wire
from tests.support.service.contract import LONGEST, matches, moves

PAIRS = "".join(f"{rank}c{rank}d" for rank in "3456789TJQK")
PASSES = {"state": wire(["3c", "4c", "5c"]), "moves": ["pass"] * 201}


class Protocol:
    def __init__(self, *pieces: bytes, error: Exception | None = None) -> None:
        self.pieces, self.error = pieces, error
        self.read = self.status = 0
        self.headers: dict[str, str] = {}
        self.answer, self.file = b"", ""

    async def __call__(self) -> bytes:
        return b"".join([piece async for piece in self])

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            self.read += len(piece)
            yield piece
        if self.error:
            raise self.error

    def response_stream(self, status: int, headers: list[tuple[str, str]]) -> Protocol:
        self.status, self.headers = status, dict(headers)
        return self

    async def send_bytes(self, piece: bytes) -> None:
        assert len(piece) <= PIECE
        self.answer += piece

    def response_bytes(self, status: int, headers: list[tuple[str, str]], answer: bytes) -> None:
        self.response_stream(status, headers).answer = answer

    def response_file(self, status: int, headers: list[tuple[str, str]], file: str) -> None:
        self.response_stream(status, headers).file = file
        self.pipe = os.open(file, os.O_RDONLY | os.O_NONBLOCK)

    async def client_disconnect(self) -> None:
        pass

    @property
    def code(self) -> str:
        return str(json.loads(self.answer)["code"])


@pytest.fixture
def threads() -> list[str]:
    return []


@pytest.fixture
def front(threads: list[str]) -> Iterator[RsgiFront]:
    app = create_app()

    @app.get("/long")
    def long() -> str:
        need_long_work()
        return "done"

    def spy(environ: Any, start_response: Any) -> Iterable[bytes]:
        threads.append(threading.current_thread().name.removesuffix("_0"))
        return app(environ, start_response)

    with asyncio.Runner() as runner:
        front = RsgiFront(spy, MEBIBYTE, CollectorRegistry())
        front.loop = runner.get_loop()
        yield front


def begin(
    front: RsgiFront, proto: Any, *headers: tuple[str, str], path: str = "/v1/moves"
) -> asyncio.Task[None]:
    """Ask the front; `proto` stands for a class of granian, which has it compiled only."""
    fixed = {"query_string": "", "server": "127.0.0.1:8080", "client": "127.0.0.1:50000"}
    fixed |= {"scheme": "http", "http_version": "1.1", "path": path}
    fields = Headers([("content-type", "application/json"), *headers])
    method = "POST" if proto.pieces else "GET"
    scope: Any = SimpleNamespace(headers=fields, method=method, **fixed)
    return front.loop.create_task(front.__rsgi__(scope, proto))


def send(front: RsgiFront, proto: Protocol, *headers: tuple[str, str], **path: str) -> Protocol:
    front.loop.run_until_complete(begin(front, proto, *headers, **path))
    return proto


def post(front: RsgiFront, path: str, body: bytes) -> Protocol:
    proto = Protocol(*(body[start : start + 4096] for start in range(0, len(body), 4096)))
    return send(front, proto, ("content-length", str(len(body))), path=path)


def test_long_work_is_done_in_another_thread(front: RsgiFront, threads: list[str]) -> None:
    for path, body, status in (
        ("/v1/moves", moves(LONGEST[:28], "7c", "7d"), 200),
        ("/v1/moves", moves(PAIRS, "Ac", "Ad"), 200),
        ("/v1/advance", json.dumps(PASSES).encode(), 422),
    ):
        assert post(front, path, body).status == status
    assert threads == ["MainThread", "long-work"] * 3


def test_without_a_slot_the_service_is_busy(
    front: RsgiFront, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rsgi, "SLOT_SECONDS", 0)
    front.slots = asyncio.Semaphore(0)
    list_ = post(front, "/v1/moves", moves(LONGEST, "7c", "7d"))
    large = post(front, "/v1/moves", b" " * (LARGE_BODY + 1))
    for answer in (list_, large):
        assert (answer.status, answer.code) == (429, "busy")
        assert matches("Problem", json.loads(answer.answer))
        assert answer.headers["Retry-After"] == "10"
        assert answer.headers["X-Request-Id"] == json.loads(answer.answer)["request_id"]
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert "Connection" not in list_.headers
    assert large.headers["Connection"] == "close"
    assert large.read < LARGE_BODY + 4096
    assert post(front, "/v1/start", b'{"game": "dasan"}').status == 200
    assert send(front, Protocol(), path="/long").code == "busy"


def test_a_large_static_file_needs_no_slot(front: RsgiFront, tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.write_bytes(bytes(LARGE_ANSWER + 1))
    front.app, front.slots = Flask("files", static_folder=tmp_path), asyncio.Semaphore(0)
    answer = send(front, Protocol(), path=f"/{tmp_path.name}/large")
    assert (answer.status, answer.file) == (200, str(file))
    os.close(answer.pipe)


def test_a_header_that_is_sent_twice_has_both_values(front: RsgiFront) -> None:
    twice = (("accept-encoding", "br"), ("accept-encoding", "gzip"))
    answer = send(front, Protocol(), *twice, path="/v1/games/dasan")
    assert answer.headers["Content-Encoding"] == "gzip"


def test_a_body_is_large_from_16_kib_on(front: RsgiFront, threads: list[str]) -> None:
    for _ in range(3):  # a slot is given back
        front.slots = asyncio.Semaphore(1)
        for size in (LARGE_BODY, LARGE_BODY + 1):
            assert post(front, "/v1/moves", b" " * size).code == "malformed-json"
            pieces = [b"{}", *[b" "] * (size - 2)]  # without a length
            proto = send(front, Protocol(*pieces), ("transfer-encoding", "chunked"))
            assert proto.code == "invalid-request"
        assert not front.slots.locked()
    assert threads == ["MainThread", "MainThread", "long-work", "long-work"] * 3


def test_pieces_are_made_as_the_client_reads_until_it_leaves(front: RsgiFront) -> None:
    made = 0

    def pieces() -> Iterator[bytes]:
        nonlocal made
        while True:
            made += 1
            yield bytes(PIECE)

    def app(_environ: Any, start_response: Any) -> Iterable[bytes]:
        start_response("200 OK", [])
        return Pieces(pieces(), rest=0)

    front.app = app
    proto = Protocol()
    task = begin(front, proto)
    read = 0
    while read < 20 * PIECE:
        front.loop.run_until_complete(asyncio.sleep(0))
        with suppress(BlockingIOError):
            read += len(os.read(proto.pipe, 4096)) if proto.file else 0
        assert made * PIECE <= read + 4 * PIECE  # in the pipe, before it, and being made
    os.close(proto.pipe)
    front.loop.run_until_complete(task)


@pytest.mark.parametrize("length", [10, LARGE_BODY + 1])
def test_a_body_that_ends_with_its_connection(front: RsgiFront, length: int) -> None:
    broken = Protocol(b"{", error=RuntimeError("stream error"))
    send(front, broken, ("content-length", str(length)))
    assert (broken.status, broken.code) == (400, "malformed-json")
