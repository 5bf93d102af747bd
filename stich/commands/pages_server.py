"""The server of the arena's pages as a child process of a command."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from stich.commands.serve import url_of

_END_S = 10


@contextmanager
def pages_served(
    host: str, port: int, run: str | None = None, connect_port: int | None = None
) -> Iterator[str]:
    """Serve the pages of a run, or without one those for playing, meanwhile; their URL.

    They have a process of their own, so spectators cost a cup little.
    """
    command = [sys.executable, "-m", "arena.server", host, str(port), *([run] if run else [])]
    command += [str(connect_port)] if connect_port else []
    # Ctrl-C is for this process, which ends the other
    server = subprocess.Popen(command, start_new_session=True)  # noqa: S603 - our own program
    try:
        click.echo(f"Pages at {url_of(host, port)} (Ctrl-C ends them).", err=True)
        yield url_of(host, port)
    finally:
        server.terminate()
        try:
            server.wait(_END_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
