"""`stich serve`: run the rules service under granian."""

import logging
import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial

import click
from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings

from service import logs
from service.settings import (
    MULTIPROC_DIR,
    SEAL_KEYS,
    ConfigError,
    Settings,
    temporary_seal_keys,
    unknown_variables,
)
from service.worker import load
from stich.processes import find_port, url_of


@click.command(context_settings={"auto_envvar_prefix": "STICH"})
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on. 0.0.0.0 or :: listens on all interfaces.",
)
# `stich.commands.option` would import numpy, which takes 0.1 s.
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    default=8080,
    show_default=True,
    help="Port to listen on. 0 picks a free port and prints it.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    metavar="N",
    default=1,
    show_default=True,
    help="Number of worker processes.",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the logs on standard error.",
)
@click.option("--access-log", is_flag=True, help="Log a line about every request.")
def serve(host: str, port: int, workers: int, log_format: str, access_log: bool) -> None:
    """Serve the rules over HTTP.

    \b
    Example:
      stich serve --port 8080 --workers 2
      curl http://127.0.0.1:8080/v1/games

    \b
    Environment variables:
      STICH_HOST, STICH_PORT, STICH_WORKERS, STICH_LOG_FORMAT, STICH_ACCESS_LOG
                            defaults of the options
      STICH_MAX_BODY        largest request body in bytes (default 1048576)
      STICH_SEAL_KEYS       keys of sealed states: ID:BASE64, comma-separated
                            (default: a random key, drawn at the start)
    """
    # The workers read the settings from the environment.
    os.environ.update(STICH_LOG_FORMAT=log_format, STICH_ACCESS_LOG=str(int(access_log)))
    try:
        settings = Settings.from_environ()
    except ConfigError as error:
        raise click.UsageError(str(error)) from None
    warnings = [
        f"{name} is not a setting of Stich and is ignored; `stich serve --help` lists them."
        for name in unknown_variables(os.environ)
    ]
    port = find_port(host, port)
    with ExitStack() as stack:
        if workers > 1 and MULTIPROC_DIR not in os.environ:
            folder = tempfile.TemporaryDirectory(prefix="stich-", ignore_cleanup_errors=True)
            # prometheus_client reads this variable when it is imported.
            os.environ[MULTIPROC_DIR] = stack.enter_context(folder)
            stack.callback(os.environ.pop, MULTIPROC_DIR)
        if not settings.seal_keys:
            os.environ[SEAL_KEYS] = temporary_seal_keys()
            stack.callback(os.environ.pop, SEAL_KEYS)
            warnings.append(
                f"Sealed games are lost when the service ends: set {SEAL_KEYS} to keep them"
                " (docs/sealed.md)."
            )
        click.echo(f"Serving on {url_of(host, port)} (Ctrl-C stops).")
        run(host, port, workers, warnings)


def run(host: str, port: int, workers: int, warnings: Sequence[str]) -> None:
    """Log the warnings, and run the service under granian until a signal stops it.

    The service reads its settings from the environment. A worker that ends is replaced.

    Raises:
        ConfigError: if an environment variable has an invalid value.
        SystemExit: with 1, if a worker's replacement ends within 5 seconds.
    """
    server = Granian(
        "service.wsgi:app",
        address=host,
        port=port,
        interface=Interfaces.RSGI,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(
            header_read_timeout=10_000,  # ms for a request's head, also on an idle connection
            max_buffer_size=64 * 1024,  # bytes of a head, and of unsent small answers
        ),
        workers=workers,
        workers_kill_timeout=30,  # seconds for running requests once the command is stopped
        backpressure=4096,  # connections per worker; further connections wait to be accepted
        websockets=False,
        respawn_failed_workers=True,
    )
    logs.configure(Settings.from_environ())  # after granian's own
    for warning in warnings:
        logging.getLogger("service").warning(warning)
    server.serve(target_loader=partial(load, os.getpid()))
