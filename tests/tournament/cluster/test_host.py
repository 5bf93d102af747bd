"""A session on a worker without Dask: the relay and its host process, and how both end."""

import asyncio
import os
import socket
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from multiprocessing import Pipe
from pathlib import Path
from typing import TypeVar

import pytest

from tests.tournament.cluster.test_messages import job
from tests.tournament.cups import all_end, bot
from tournament.cluster import host
from tournament.cluster.archive import pack_all
from tournament.cluster.messages import (
    Begin,
    Begun,
    Close,
    Done,
    Failed,
    Ping,
    Play,
    Played,
    Request,
    Upload,
    decode_response,
    encode,
)
from tournament.cluster.relay import BUSY, HostProcess, Relay
from tournament.config import Bot, Cup

_T = TypeVar("_T")


def cup(*bots: Bot) -> Cup:
    return Cup("c", "doudizhu", 3, bots, sandbox=False)


def toys(*words: str) -> list[Bot]:
    return [
        Bot(name, command=bot(f"toy-{i}", *words)) for i, name in enumerate(("ann", "bob", "cat"))
    ]


class Worker:
    """A relay, asked as by a runner."""

    def __init__(self, folder: Path) -> None:
        self.relay = Relay(str(folder))

    async def ask(self, request: Request, session: str = "one") -> object:
        return await self.relay.handle(session, encode(request))

    async def begin(self, *bots: Bot, folders: dict[str, str] | None = None) -> Begun | Failed:
        request = Begin(cup(*bots), 1, folders or {}, frozenset())
        return decode_response(await self.ask(request), Begun)

    @property
    def host(self) -> HostProcess:
        assert self.relay._host is not None
        return self.relay._host

    def disappear(self) -> None:
        """What the host sees when the Dask worker dies."""
        with socket.socket(fileno=os.dup(self.host._connection.fileno())) as end:
            end.shutdown(socket.SHUT_RDWR)
        self.host._process.wait(30)


def run(work: Callable[[], Awaitable[_T]]) -> _T:
    async def main() -> _T:
        return await work()

    return asyncio.run(main())


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    """Its host's private folder is below `tmp_path`."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    made = Worker(tmp_path)
    yield made
    made.disappear()


def test_a_block_is_played(worker: Worker) -> None:
    async def work() -> None:
        begun = await worker.begin(*toys())
        assert isinstance(begun, Begun)
        assert begun.inspected.problems == ()
        assert "so they can reach its Dask port and its files" in begun.notice
        played = decode_response(await worker.ask(Play(job())), Played)
        assert isinstance(played, Played)
        assert [record.number for record in played.records] == [0, 1, 2]
        assert await worker.ask(Ping(), "two") == BUSY
        assert await worker.ask(Close()) == encode(Done())
        assert await worker.ask(Ping()) is None
        assert await worker.ask(Ping(), "two") == encode(Done())
        assert await worker.ask(Close(), "two") == encode(Done())

    run(work)


def test_a_bot_runs_in_its_folder(worker: Worker, tmp_path: Path) -> None:
    """It lacks a file there if it was left out."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "model.json").write_text("{}")
    reads = "import json, os; json.load(open('model.json')); os.chdir('nowhere')"
    mine = Bot("mine", command=f'python -c "{reads}"', dir="mine")

    async def problem(session: str) -> str:
        packed = pack_all([mine], tmp_path, [])
        (digest,) = packed.data
        assert await worker.ask(Upload(digest, packed.data[digest]), session) == encode(Done())
        request = Begin(cup(mine), 1, packed.of_bots, frozenset())
        begun = decode_response(await worker.ask(request, session), Begun)
        assert await worker.ask(Close(), session) == encode(Done())
        assert isinstance(begun, Begun)
        (said,) = begun.inspected.problems
        return said

    async def work() -> None:
        assert "No such file or directory: 'nowhere'" in await problem("one")
        (folder / "model.json").unlink()
        (folder / "other.json").touch()
        assert "No such file or directory: 'model.json'" in await problem("two")

    run(work)


def test_an_archive_that_changed_on_its_way(worker: Worker) -> None:
    async def work() -> None:
        answer = decode_response(await worker.ask(Upload("0" * 64, b"x")), Done)
        assert answer == Failed("The archive of a bot has changed on its way.")
        assert decode_response(await worker.ask(Play(job())), Played) == Failed(
            "There is no free table."
        )

    run(work)


@contextmanager
def noted(tmp_path: Path) -> Iterator[tuple[Path, list[Bot]]]:
    """Toys that note their processes."""
    notes = tmp_path / "alive"
    notes.mkdir()
    yield notes, toys(str(notes))
    all_end(int(note.name) for note in notes.iterdir())


def test_a_host_that_is_killed_is_gone_with_its_bots(worker: Worker, tmp_path: Path) -> None:
    async def work() -> None:
        with noted(tmp_path) as (notes, bots):
            await worker.begin(*bots)
            playing = asyncio.ensure_future(worker.ask(Play(job())))
            await worker.ask(Ping())
            worker.host._process.kill()
            assert await playing is None
            assert await worker.ask(Ping()) is None
            assert len(list(notes.iterdir())) >= 3

    run(work)


def test_a_host_ends_when_the_dask_worker_does(worker: Worker, tmp_path: Path) -> None:
    async def work() -> None:
        with noted(tmp_path) as (_, bots):
            await worker.begin(*bots)
            playing = asyncio.ensure_future(worker.ask(Play(job())))
            await worker.ask(Ping())
            await asyncio.to_thread(worker.disappear)
            assert await playing is None

    run(work)
    assert worker.host._process.returncode == 0
    assert not list(tmp_path.glob("stich-*")), "the folders of bots are gone"


def test_a_host_that_hears_nothing_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, so that the time can be short."""
    monkeypatch.setattr(host, "SILENT_S", 0.0)
    ours, theirs = Pipe()
    with ours, theirs:
        host.Host(theirs, tmp_path, []).serve()
        assert not ours.poll()


def test_a_command_that_this_worker_does_not_have(worker: Worker) -> None:
    async def work() -> None:
        begun = await worker.begin(Bot("ann", command="no-such-toolchain run"))
        assert isinstance(begun, Begun)
        (said,) = begun.inspected.problems
        assert said.startswith('ann: "no-such-toolchain run" cannot be started: there is no')

    run(work)
