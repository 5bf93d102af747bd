"""The server of the arena's pages as a child process of a command."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from stich.servers.addresses import url_of
from stich.servers.child import ChildServer

if TYPE_CHECKING:
    from web.arena.server import PagesSettings


@contextmanager
def pages_served(host: str, port: int, settings: PagesSettings | None = None) -> Iterator[str]:
    """Serve these pages meanwhile, by default those for playing; their URL.

    They have a process of their own, so spectators cost a cup little.
    """
    from web.arena.server import PagesSettings, environment

    command = [sys.executable, "-m", "web.arena.server", host, str(port), str(os.getpid())]
    env = environment(settings or PagesSettings())
    server = ChildServer("The server of the pages", command, env)
    try:
        click.echo(f"Pages at {url_of(host, port)} (Ctrl-C ends them).", err=True)
        yield url_of(host, port)
    finally:
        server.close()
