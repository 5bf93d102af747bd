"""The server of the arena's pages as a child process of a command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from stich.commands.serve import url_of

if TYPE_CHECKING:
    from arena.server import PagesSettings

_END_S = 10


@contextmanager
def pages_served(host: str, port: int, settings: PagesSettings | None = None) -> Iterator[str]:
    """Serve these pages meanwhile, by default those for playing; their URL.

    They have a process of their own, so spectators cost a cup little.
    """
    from arena.server import PagesSettings, environment

    command = [sys.executable, "-m", "arena.server", host, str(port), str(os.getpid())]
    env = environment(settings or PagesSettings())
    # Ctrl-C is for this process, which ends the other
    server = subprocess.Popen(command, env=env, start_new_session=True)  # noqa: S603 - our own
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
