"""The connection to a Dask scheduler, and the version of Stich that runner and workers compare."""

import asyncio
import hashlib
import logging
import ssl
import warnings
from functools import cache
from importlib.metadata import version

from distributed import Client, Security
from distributed.comm import core
from distributed.versions import VersionMismatchWarning

from tournament.paths import CHECKOUT
from tournament.run.workers.executor import RunError

_CONNECT_S = 10.0
_PACKAGES = ("games", "tournament", "bots")


def connect(address: str) -> tuple[Client, str]:
    """Connect to a Dask scheduler. Return the client, which the caller must close, and Dask's
    report about packages whose versions differ, or "". From then on, Dask logs only critical
    errors.

    Raises:
        RunError: if Dask cannot connect, after 20 seconds at the latest.
    """
    # The runner reports in its own sentences what Dask logs.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        # Tried without a client: one that cannot connect keeps the program from exiting.
        asyncio.run(_try(address))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            client = Client(address, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, TypeError, ValueError, RuntimeError) as error:
        raise RunError(_why_not(address, error)) from None
    differing = [
        str(warning.message) for warning in caught if warning.category is VersionMismatchWarning
    ]
    return client, "\n".join(differing)


async def _try(address: str) -> None:
    arguments = Security().get_connection_args("client")
    await (await core.connect(address, timeout=_CONNECT_S, **arguments)).close()


def _why_not(address: str, error: Exception) -> str:
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
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return f"{scheduler} does not speak TLS; start it with --protocol tls, or write tcp://."
    if isinstance(error, ValueError):
        return f"{address} is no scheduler's address; write one like tcp://127.0.0.1:8786."
    if any(isinstance(cause, ConnectionResetError) for cause in causes):
        return f"{scheduler} closed the connection; if it was started with TLS, write tls://."
    return f"No scheduler answers at {address}; start one (dask scheduler), or fix --cluster."


@cache
def own_version() -> str:
    """Return the version of Stich on this machine, with a hash of its sources. The hash tells apart
    checkouts of the same version."""
    sources = hashlib.sha256()
    for package in _PACKAGES:
        for path in sorted((CHECKOUT / package).rglob("*.py")):
            sources.update(f"{path.relative_to(CHECKOUT)}\n".encode())
            sources.update(path.read_bytes())
    return f"stich {version('stich')} (sources {sources.hexdigest()[:8]})"
