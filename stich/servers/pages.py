"""The server of the arena's pages as a child process of a command."""

from __future__ import annotations

import http.client
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from time import monotonic, sleep
from typing import TYPE_CHECKING, Final

import click

from stich.servers.addresses import url_of
from stich.servers.child import ChildServer

if TYPE_CHECKING:
    from web.arena.server import PagesSettings

_START_S: Final = 30.0


@contextmanager
def pages_served(host: str, port: int, settings: PagesSettings | None = None) -> Iterator[str]:
    """Serve these pages meanwhile, by default those for playing; their URL, once they answer.

    They have a process of their own, so spectators cost a cup little.
    """
    from web.arena.server import PagesSettings, environment

    command = [sys.executable, "-m", "web.arena.server", host, str(port), str(os.getpid())]
    env = environment(settings or PagesSettings())
    server = ChildServer("The server of the pages", command, env)
    try:
        _wait_until_answered(host, port, server)
        click.echo(f"Pages at {url_of(host, port)} (Ctrl-C ends them).", err=True)
        yield url_of(host, port)
    finally:
        server.close()


def _wait_until_answered(host: str, port: int, server: ChildServer) -> None:
    until = monotonic() + _START_S
    while True:
        with closing(http.client.HTTPConnection(host, port, timeout=_START_S)) as connection:
            try:
                connection.request("GET", "/assets/table.css")
                connection.getresponse()
                return
            except (OSError, http.client.HTTPException):
                if not server.running or monotonic() > until:
                    raise click.ClickException("The server of the pages did not start.") from None
        sleep(0.05)
