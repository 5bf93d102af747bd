"""The process on a worker that plays the blocks of one run, with tables as on one machine.

It is a child of the Dask worker, from which it gets requests. When it is asked to, when the Dask
worker ends, or when it hears nothing for too long, it ends its bots and removes their folders.
"""

from __future__ import annotations

import dataclasses
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic
from typing import NoReturn

from tournament.bot.launch import prepare_launch
from tournament.bot.sandbox.bubblewrap import SandboxError
from tournament.cluster.archive import ArchiveError, unpack
from tournament.cluster.messages import (
    Begin,
    Begun,
    Close,
    Done,
    Failed,
    Play,
    Played,
    Recall,
    Request,
    Response,
    Upload,
    decode_request,
    encode,
)
from tournament.config import Cup
from tournament.records import MatchRecord, VoidRecord
from tournament.run.executor import Event, Finished, Job, Lost, RunError, Voided
from tournament.run.local_executor import LocalExecutor

NUMBER_BYTES = 8
"""Each message on the connection begins with the number of its request."""

SILENT_S = 10.0
"""How long the runner may be silent: less than the runner waits for a worker, so that what it plays
elsewhere is played here no more."""

_TICK_S = 0.5
_WARNING = (
    "Warning: the bots run as the user of the worker and without a sandbox, so they can reach its"
    " Dask port and its files, and with that all workers and this run. Run only bots that you trust"
    " this way."
)
_EMPTY = "empty"


class Host:
    """The tables of one run on this worker; `folder` is private and holds its bots' folders. Bots
    in a sandbox do not see what is `secret`."""

    def __init__(self, connection: Connection, folder: Path, secret: Sequence[Path]) -> None:
        self._connection = connection
        self._folder = folder
        self._secret = secret
        self._executor: LocalExecutor | None = None
        self._jobs: dict[int, tuple[int, list[MatchRecord]]] = {}  # by block: request, matches
        self._heard = monotonic()

    def serve(self) -> None:
        """Carry out requests until the last one."""
        try:
            while monotonic() < self._heard + SILENT_S:
                if self._executor is None:
                    self._connection.poll(_TICK_S)
                else:
                    for event in self._events(self._executor):
                        self._on_event(event)
                while self._connection.poll():
                    data = self._connection.recv_bytes()
                    number = int.from_bytes(data[:NUMBER_BYTES], "big")
                    request = decode_request(data[NUMBER_BYTES:])
                    if isinstance(request, Close):
                        return
                    self._carry_out(number, request)
                    self._heard = monotonic()
        except (EOFError, OSError):
            return  # the Dask worker is gone
        finally:
            if self._executor is not None:
                self._executor.close()

    def _events(self, executor: LocalExecutor) -> Iterator[Event]:
        try:
            yield from executor.receive(_TICK_S, [self._connection])
        except RunError as error:
            for number, _ in self._jobs.values():
                self._answer(number, Failed(str(error)))
            self._jobs.clear()

    def _on_event(self, event: Event) -> None:
        """Answer a job that has ended."""
        match event:
            case Finished(record, last):
                self._jobs[record.block][1].append(record)
                if last:
                    self._end_job(record.block)
            case Voided(void):
                self._end_job(void.block, void=void)
            case Lost(block, why):
                self._end_job(block, lost=why)

    def _end_job(
        self, block: int, *, void: VoidRecord | None = None, lost: str | None = None
    ) -> None:
        number, records = self._jobs.pop(block)
        self._answer(number, Played(tuple(records), void, lost))

    def _carry_out(self, number: int, request: Request) -> None:
        match request:
            case Play(job):
                self._play(number, job)
                return
            case Upload(digest, data):
                response: Response = self._upload(digest, data)
            case Begin():
                response = self._begin(request)
            case Recall():
                if self._executor is not None:
                    self._executor.recall()
                response = Done()
            case _:
                response = Done()
        self._answer(number, response)

    def _answer(self, number: int, response: Response) -> None:
        self._connection.send_bytes(number.to_bytes(NUMBER_BYTES, "big") + encode(response))

    def _play(self, number: int, job: Job) -> None:
        if self._executor is None or not self._executor.has_free_table:
            self._answer(number, Failed("There is no free table."))
            return
        self._jobs[job.block.number] = (number, [])
        self._executor.submit(job)

    def _upload(self, digest: str, data: bytes) -> Response:
        try:
            unpack(data, digest, self._folder / digest)
        except ArchiveError as error:
            return Failed(str(error))
        except OSError as error:
            return Failed(f"The folder of a bot cannot be unpacked ({error.strerror}).")
        return Done()

    def _begin(self, request: Begin) -> Response:
        """Prepare the tables and start all bots."""
        cup = self._placed(request.cup, request.folders)
        try:
            launch, notice = prepare_launch(
                cup.bots,
                cup.limits,
                cup.clock.start_ms,
                sandbox=cup.sandbox,
                secret=self._secret,
                folder=self._folder / _EMPTY,
                warning=_WARNING,
            )
            self._executor = LocalExecutor(cup, launch, request.tables)
            return Begun(self._executor.inspect(request.absent), notice)
        except (SandboxError, RunError) as error:
            return Failed(str(error))

    def _placed(self, cup: Cup, folders: Mapping[str, str]) -> Cup:
        """The cup with the folders of its bots where they were unpacked."""
        (self._folder / _EMPTY).mkdir()
        bots = tuple(
            dataclasses.replace(bot, dir=str(self._folder / folders[bot.name]))
            if bot.name in folders
            else bot
            for bot in cup.bots
        )
        return dataclasses.replace(cup, bots=bots)


def _exit(*_: object) -> NoReturn:
    sys.exit()


def main(descriptor: int, secret: str) -> None:
    """The process: it serves the requests that come by a connection. `secret` is the folder of the
    Dask worker, which bots in a sandbox do not see."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _exit)
    with tempfile.TemporaryDirectory(prefix="stich-host-") as folder:
        Host(Connection(descriptor), Path(folder), [Path(secret)]).serve()
