"""`stich serve`: the service under granian."""

from __future__ import annotations

import errno
import os
import socket
import tempfile
from contextlib import ExitStack
from typing import Final

import click

from service.settings import ConfigError, Settings

# Not taken from service.metrics: that module imports prometheus_client, which chooses how it keeps
# figures by this variable when it is imported.
MULTIPROC_DIR: Final = "PROMETHEUS_MULTIPROC_DIR"

_CONNECTIONS: Final = 1024


@click.command()
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    envvar="STICH_HOST",
    help="Where to listen; 0.0.0.0 or :: for all networks.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8080,
    show_default=True,
    envvar="STICH_PORT",
    help="0 takes any free port and says which.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    envvar="STICH_WORKERS",
    help="Processes that answer.",
)
def serve(host: str, port: int, workers: int) -> None:
    """Serve the rules over HTTP.

    \b
    Example:
      stich serve --port 8080 --workers 2
      curl http://127.0.0.1:8080/v1/games

    \b
    Settings come from the environment too:
      STICH_HOST, STICH_PORT, STICH_WORKERS   as the options
      STICH_MAX_BODY        bytes that a body may have (1048576)
      STICH_CORS_ORIGINS    * or origins with commas between them (*)
    """
    try:
        Settings.from_environ()
    except ConfigError as error:
        raise click.UsageError(str(error)) from None
    port = _free(host, port)
    with ExitStack() as stack:
        if workers > 1 and MULTIPROC_DIR not in os.environ:
            folder = tempfile.TemporaryDirectory(prefix="stich-", ignore_cleanup_errors=True)
            os.environ[MULTIPROC_DIR] = stack.enter_context(folder)
            stack.callback(os.environ.pop, MULTIPROC_DIR)
        click.echo(f"Serving on {_url(host, port)} (Ctrl-C stops).")
        run(host, port, workers)


def run(host: str, port: int, workers: int) -> None:
    """Run granian until it is told to stop."""
    from granian import Granian
    from granian.constants import Interfaces
    from granian.log import LogLevels

    from service.worker import load

    Granian(
        "service.wsgi:app",
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        workers=workers,
        # a thread waits for each body that is on its way: slow clients must not use them all up
        backpressure=_CONNECTIONS,
        blocking_threads=_CONNECTIONS // 2,
        websockets=False,
        respawn_failed_workers=True,
        log_level=LogLevels.error,
    ).serve(target_loader=load)


def _free(host: str, port: int) -> int:
    """The port, if it can be had: a sentence and exit 1 if not. 0 becomes a free port."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise click.ClickException(
            f"{host} is no address of this machine ({error.strerror}); try --host 127.0.0.1."
        ) from None
    family, kind, protocol, _, address = found[0]
    with socket.socket(family, kind, protocol) as probe:
        # as the server does: a port whose last connections are still closing is free
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
            probe.listen(1)
            return int(probe.getsockname()[1])
        except OSError as error:
            raise click.ClickException(_refused(host, port, error)) from None


def _refused(host: str, port: int, error: OSError) -> str:
    if isinstance(error, PermissionError):
        return f"Port {port} needs more rights than you have; choose one above 1023 by --port."
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} of {host} is in use; stop what uses it, or choose another by --port."
    return f"Cannot listen on {host}: {error.strerror}; try --host 127.0.0.1."


def _url(host: str, port: int) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"
