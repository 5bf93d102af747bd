"""The front of `stich serve` in this process, with a fake of granian's protocol."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from werkzeug.datastructures import Headers

from service.app import create_app
from serving import rsgi
from serving.rsgi import LARGE_BODY, RsgiFront
from serving.work import PIECE, Pieces
from tests.support.service import LONGEST, matches, moves
from tests.support.zhengfen import wire

MAX_BODY = 1024 * 1024


class Protocol:
    """A request's body in pieces, and its answer."""

    def __init__(self, *pieces: bytes, error: Exception | None = None, ends: bool = True) -> None:
        self.pieces, self.error, self.ends = pieces, error, ends
        self.read = self.status = 0
        self.headers: dict[str, str] = {}
        self.answer, self.file = b"", ""
        self.disconnected = asyncio.Event()

    async def __call__(self) -> bytes:
        return b"".join([piece async for piece in self])

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            self.read += len(piece)
            yield piece
        if self.error:
            raise self.error
        if not self.ends:
            await asyncio.Event().wait()

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
        await self.disconnected.wait()

    @property
    def closes(self) -> bool:
        return self.headers.get("Connection") == "close"

    @property
    def code(self) -> str:
        return str(json.loads(self.answer)["code"])


class Spy:
    """An application that records the threads that call it."""

    def __init__(self) -> None:
        self.app = create_app()
        self.threads: list[str] = []

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        self.threads.append(threading.current_thread().name.removesuffix("_0"))
        return self.app(environ, start_response)


def scope(path: str, *headers: tuple[str, str], method: str = "POST") -> Any:
    return SimpleNamespace(
        headers=Headers([("content-type", "application/json"), *headers]),
        method=method,
        path=path,
        query_string="",
        server="127.0.0.1:8080",
        client="127.0.0.1:50000",
        scheme="http",
        http_version="1.1",
    )


def run(test: Callable[[RsgiFront], Awaitable[None]]) -> Spy:
    """Run a test with a front in an event loop."""
    spy = Spy()

    async def main() -> None:
        front = RsgiFront(spy, MAX_BODY, CollectorRegistry())
        front.loop = asyncio.get_running_loop()
        await test(front)

    asyncio.run(main())
    return spy


async def send(
    front: RsgiFront, proto: Any, *headers: tuple[str, str], path: str = "/v1/moves"
) -> Any:
    """Let the front answer; `proto` stands for a class of granian, which has it compiled only."""
    await front.__rsgi__(scope(path, *headers), proto)
    return proto


async def post(front: RsgiFront, path: str, body: bytes) -> Protocol:
    """Post a body of a known length, in pieces of 4 KiB."""
    proto = Protocol(*(body[start : start + 4096] for start in range(0, len(body), 4096)))
    proto.disconnected.set()
    answered: Protocol = await send(front, proto, ("content-length", str(len(body))), path=path)
    return answered


PAIRS = "".join(f"{rank}c{rank}d" for rank in "3456789TJQK")
PASSES = {"state": wire(["3c", "4c", "5c"]), "moves": ["pass"] * 201}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/moves", moves(LONGEST[:28], "7c", "7d")),
        ("/v1/moves", moves(PAIRS, "Ac", "Ad")),
        ("/v1/advance", json.dumps(PASSES).encode()),
    ],
    ids=["long list", "large hand", "many moves"],
)
def test_long_work_is_done_in_another_thread(path: str, body: bytes) -> None:
    async def test(front: RsgiFront) -> None:
        assert (await post(front, path, body)).status == (422 if path == "/v1/advance" else 200)

    assert run(test).threads == ["MainThread", "long-work"]


def test_a_large_answer_has_a_slot_until_it_is_sent() -> None:
    async def test(front: RsgiFront) -> None:
        front.slots = asyncio.Semaphore(1)
        body = moves(LONGEST, "7c", "7d")
        proto = Protocol(body)
        task = asyncio.ensure_future(send(front, proto, ("content-length", str(len(body)))))
        while not proto.answer:
            await asyncio.sleep(0)
        assert int(proto.headers["Content-Length"]) == len(proto.answer)
        assert len(json.loads(proto.answer)["moves"]) == 31_122
        assert front.slots.locked()
        proto.disconnected.set()
        await task
        assert not front.slots.locked()

    assert run(test).threads == ["MainThread", "long-work"]


def test_without_a_slot_the_service_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rsgi, "SLOT_SECONDS", 0)

    async def test(front: RsgiFront) -> None:
        front.slots = asyncio.Semaphore(0)
        list_ = await post(front, "/v1/moves", moves(LONGEST, "7c", "7d"))
        large = await post(front, "/v1/moves", b" " * (LARGE_BODY + 1))
        for answer in (list_, large):
            assert (answer.status, answer.code) == (429, "busy")
            assert matches("Problem", json.loads(answer.answer))
            assert answer.headers["Retry-After"] == "10"
            assert answer.headers["X-Request-Id"] == json.loads(answer.answer)["request_id"]
            assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert not list_.closes
        assert large.closes
        assert large.read < LARGE_BODY + 4096
        assert (await post(front, "/v1/start", b'{"game": "dasan"}')).status == 200

    run(test)


def test_a_body_is_large_from_16_kib_on() -> None:
    async def test(front: RsgiFront) -> None:
        for _ in range(3):  # a slot is given back
            front.slots = asyncio.Semaphore(1)
            for size in (LARGE_BODY, LARGE_BODY + 1):
                assert (await post(front, "/v1/moves", b" " * size)).code == "malformed-json"
                pieces = [b"{}", *[b" "] * (size - 2)]  # without a length
                proto = await send(front, Protocol(*pieces), ("transfer-encoding", "chunked"))
                assert proto.code == "invalid-request"
            assert not front.slots.locked()

    assert run(test).threads == ["MainThread", "MainThread", "long-work", "long-work"] * 3


def test_pieces_are_made_as_the_client_reads_until_it_leaves() -> None:
    made = 0

    def pieces() -> Iterator[bytes]:
        nonlocal made
        while True:
            made += 1
            yield bytes(PIECE)

    def app(_environ: Any, start_response: Any) -> Iterable[bytes]:
        start_response("200 OK", [])
        return Pieces(pieces(), rest=0)

    async def test(front: RsgiFront) -> None:
        front.app = app
        proto = Protocol()
        task = asyncio.ensure_future(send(front, proto))
        read = 0
        while read < 20 * PIECE:
            await asyncio.sleep(0)
            with suppress(BlockingIOError):
                read += len(os.read(proto.pipe, 4096)) if proto.file else 0
            assert made * PIECE <= read + 4 * PIECE  # in the pipe, before it, and being made
        os.close(proto.pipe)
        await task

    run(test)


@pytest.mark.parametrize("length", [10, LARGE_BODY + 1])
def test_a_body_that_does_not_arrive(monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    monkeypatch.setattr(rsgi, "BODY_SECONDS", 0.01)

    async def test(front: RsgiFront) -> None:
        announced = ("content-length", str(length))
        late = await send(front, Protocol(b"{", ends=False), announced)
        assert (late.status, late.code, late.closes) == (408, "timeout", True)
        broken = Protocol(b"{", error=RuntimeError("stream error"))
        await send(front, broken, announced)
        assert (broken.status, broken.code) == (400, "malformed-json")

    run(test)


def test_headers_as_pep_3333_wants_them() -> None:
    async def test(front: RsgiFront) -> None:
        seen: dict[str, Any] = {}

        def app(environ: dict[str, Any], start_response: Any) -> list[bytes]:
            seen.update(environ)
            start_response("204 No Content", [])
            return []

        front.app = app
        proto = await send(front, Protocol(), ("x-a", "1"), ("x-a", "2"))
        assert (proto.status, proto.answer) == (204, b"")
        assert seen["HTTP_X_A"] == "1,2"
        assert seen["CONTENT_TYPE"] == "application/json"
        assert "HTTP_CONTENT_TYPE" not in seen

    run(test)
