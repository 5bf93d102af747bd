"""The runner's connection to a Dask scheduler: which workers there are, and questions to them.

Dask finds the workers, starts them again when they die, and carries the messages, by TLS if the
address says so. It schedules nothing here: a task would wait in a queue, and with it the seed of a
block that is not being played.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

from distributed import Client

from tournament.cluster import relay
from tournament.cluster.messages import (
    Begun,
    Done,
    Failed,
    Played,
    Request,
    decode_response,
    encode,
)
from tournament.text import printable

SILENT_S = 15.0
"""How long a worker may be silent."""

_CONNECT_S = 10.0
_DIRECT_S = 3.0  # how long it is tried to reach a worker without the scheduler
_RESOURCE = "tables"
_A = TypeVar("_A", Done, Begun, Played)
_T = TypeVar("_T")


class ClusterError(Exception):
    """The cluster cannot be used; the text is a sentence that says why."""


class WorkerGone(Exception):
    """A worker does not play any more; the text is what is said of it."""


class WorkerBusy(Exception):
    """A worker plays for another runner."""


class Unsuited(Exception):
    """A worker cannot take part; the text is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Member:
    """A worker of the cluster, by its address; `tables` may be 0."""

    address: str
    name: str
    tables: int


class Link:
    """Used in one event loop. Everything raises ClusterError if the scheduler is gone."""

    def __init__(self, address: str, client: Any) -> None:
        self._address = address
        self._client = client
        self._direct: set[str] = set()

    @classmethod
    async def connect(cls, address: str) -> Link:
        """Connect to the scheduler; ClusterError if none answers."""
        # The runner says in a sentence of its own what Dask logs.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        make: Any = Client  # which has no types
        client = make(address, asynchronous=True, timeout=_CONNECT_S, set_as_default=False)
        try:
            await client
        except OSError as error:
            why = ": ".join(filter(None, (error.filename, error.strerror)))
            raise ClusterError(
                f"No scheduler answers at {address}{f' ({why})' if why else ''}; start one (dask"
                " scheduler), or fix --cluster."
            ) from None
        except TypeError:
            raise ClusterError(
                f"{address} needs certificates; name them in Dask's configuration, as"
                " distributed.comm.tls."
            ) from None
        finally:
            if client.status != "running":
                await client.close()
        return cls(address, client)

    async def close(self) -> None:
        """Leave the cluster, which stays as it is."""
        await self._client.close()

    async def members(self) -> dict[str, Member]:
        """The workers that there are, by address."""
        try:
            info = await self._call(
                lambda: self._client.scheduler.identity(n_workers=-1), _CONNECT_S
            )
        except WorkerGone:
            raise self._gone() from None
        return {
            address: Member(
                address, printable(str(worker["name"])), int(worker["resources"].get(_RESOURCE, 0))
            )
            for address, worker in info["workers"].items()
        }

    async def install(self, member: Member) -> None:
        """Prepare a worker for questions. Unsuited if it has no stich, or another version."""
        ours, theirs = version("stich"), await self._run(member, version, "stich")
        if isinstance(theirs, PackageNotFoundError):
            raise Unsuited(
                f"Worker {member.name} has no stich; install stich[cluster] {ours} there, into the"
                " environment of its dask."
            )
        if theirs != ours:
            raise Unsuited(
                f"Worker {member.name} has stich {theirs}, and this is stich {ours}; install the"
                " same version on both."
            )
        failed = await self._run(member, relay.install)
        if isinstance(failed, Exception):
            why = f"{type(failed).__name__}: {failed}"
            raise Unsuited(f"Worker {member.name} cannot load stich {ours} ({why}); see its log.")
        with contextlib.suppress(OSError):
            await asyncio.wait_for(self._client.rpc(member.address).identity(), _DIRECT_S)
            self._direct.add(member.address)

    async def _run(self, member: Member, function: Callable[..., Any], *args: object) -> Any:
        """What a function returns on a worker, or the exception that it raises."""
        answers = await self._call(
            lambda: self._client.run(function, *args, workers=[member.address], on_error="return"),
            SILENT_S,
        )
        answer = answers.get(member.address)
        if isinstance(answer, OSError):
            raise WorkerGone("cannot be reached")
        return answer

    async def ask(
        self,
        member: Member,
        session: str,
        request: Request,
        expected: type[_A],
        seconds: float | None = None,
    ) -> _A:
        """The answer of a worker in a session, which begins with its first request. WorkerGone;
        WorkerBusy; InvalidMessage if it makes no sense; Unsuited if the worker says that it cannot.
        """
        message = {"session": session, "request": encode(request)}
        if member.address in self._direct:
            answer = await self._ask_directly(member, message, seconds)
        else:
            answer = await self._ask_by_scheduler(member, message, seconds)
        if answer is None:
            raise WorkerGone("has ended its tables")
        if answer == relay.BUSY:
            raise WorkerBusy
        found = decode_response(answer, expected)
        if isinstance(found, Failed):
            raise Unsuited(f"Worker {member.name}: {found.why}")
        return found

    async def _ask_directly(
        self, member: Member, message: dict[str, Any], seconds: float | None
    ) -> Any:
        """What a worker answers by a connection of its own, which stays open."""
        call = getattr(self._client.rpc(member.address), relay.OPERATION)
        try:
            return await asyncio.wait_for(call(**message), seconds)
        except TimeoutError:
            raise WorkerGone(f"has been silent for {seconds or 0:.0f} s") from None
        except OSError:
            raise WorkerGone("cannot be reached") from None
        except Exception as error:  # whatever was raised there
            raise WorkerGone(f"has failed ({type(error).__name__}); see its log") from None

    async def _ask_by_scheduler(
        self, member: Member, message: dict[str, Any], seconds: float | None
    ) -> Any:
        """What a worker answers to which only the scheduler has a way."""
        message = {"op": relay.OPERATION, **message}
        answers = await self._call(
            lambda: self._client.scheduler.broadcast(
                msg=message, workers=[member.address], on_error="ignore"
            ),
            seconds,
        )
        if member.address not in answers:
            raise WorkerGone("cannot be reached")
        return answers[member.address]

    async def _call(self, call: Callable[[], Awaitable[_T]], seconds: float | None) -> _T:
        """What a call through the scheduler returns; WorkerGone if it takes too long."""
        try:
            if self._client.status != "running":
                raise OSError
            return await asyncio.wait_for(call(), seconds)
        except TimeoutError:
            raise WorkerGone(f"has been silent for {seconds or 0:.0f} s") from None
        except OSError:
            raise self._gone() from None

    def _gone(self) -> ClusterError:
        return ClusterError(
            f"The scheduler at {self._address} is gone. What is finished is kept: start the"
            " scheduler and its workers, then run this again."
        )
