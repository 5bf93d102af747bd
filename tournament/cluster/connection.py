"""The connection to a Dask scheduler, and whether its workers run the same programs."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import ssl
import warnings
from functools import cache
from importlib.metadata import version
from typing import Any

from distributed import Client, Security
from distributed.comm import core

from tournament.paths import CHECKOUT
from tournament.run.executor import RunError

_CONNECT_S = 10.0
_PACKAGES = ("games", "tournament", "bots")


def connect(address: str) -> Any:
    """A connected Dask client; RunError, which says what is wrong, if it cannot connect."""
    # The runner reports in its own sentences what Dask logs.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        # Tried without a client: one that cannot connect keeps the program from exiting.
        asyncio.run(_try(address))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions, see `differing_packages`
            client: Any = Client  # which has no types
            return client(address, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, TypeError, ValueError, RuntimeError) as error:
        raise RunError(_why_not(address, error)) from None


async def _try(address: str) -> None:
    security: Any = Security
    arguments = security().get_connection_args("client")
    connect: Any = core.connect
    await (await connect(address, timeout=_CONNECT_S, **arguments)).close()


def _why_not(address: str, error: Exception) -> str:
    """What is wrong, judged by the error that Dask raised."""
    scheduler = f"The scheduler at {address}"
    if isinstance(error, TypeError):
        return f"{address} needs certificates; name them in Dask's distributed.comm.tls."
    if isinstance(error, RuntimeError):
        return f"Dask's configuration requires encryption; write tls:// in place of {address[:6]}."
    if isinstance(error, FileNotFoundError | PermissionError):
        return f"A file of Dask's distributed.comm.tls cannot be read ({error.strerror})."
    causes = (error, error.__cause__)
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return f"{scheduler} has other certificates; use the same distributed.comm.tls everywhere."
    if any(isinstance(cause, ssl.SSLError | ValueError) for cause in causes):
        return f"{scheduler} does not speak TLS; start it with --protocol tls, or write tcp://."
    if any(isinstance(cause, ConnectionResetError) for cause in causes):
        return f"{scheduler} closed the connection; if it was started with TLS, write tls://."
    return f"No scheduler answers at {address}; start one (dask scheduler), or fix --cluster."


def differing_packages(client: Any) -> str:
    """What Dask reports about packages whose versions differ; "" if none do."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            client.get_versions(check=True)
        except ValueError as error:
            return str(error)
    return "\n".join(str(one.message) for one in found)


@cache
def own_version() -> str:
    """The version of Stich here, with a hash of its sources, because checkouts share a version."""
    sources = hashlib.sha256()
    for package in _PACKAGES:
        for path in sorted((CHECKOUT / package).rglob("*.py")):
            sources.update(f"{path.relative_to(CHECKOUT)}\n".encode())
            sources.update(path.read_bytes())
    return f"stich {version('stich')} (sources {sources.hexdigest()[:8]})"


def version_problem(client: Any, address: str) -> str | None:
    """Why a worker cannot play, if it has another Stich or none. OSError if it has left."""
    here = own_version()
    answers = client.run(own_version, workers=[address], on_error="return")
    on_worker = answers.get(address, OSError())
    if isinstance(on_worker, OSError):
        raise on_worker
    if isinstance(on_worker, Exception):
        return f"It cannot load {here} ({on_worker}); install it into the environment of its dask."
    if on_worker != here:
        return f"It has {on_worker}, and this is {here}; install the same on both."
    return None
