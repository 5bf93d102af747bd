"""The gateway of bots that connect as a child process of a command."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

import click

from stich.servers.addresses import find_port
from stich.servers.child import ChildServer

if TYPE_CHECKING:
    from tournament.config import Cup
    from tournament.run.progress import JsonLines

_LOOK_S: Final = 0.2
_SAY_S: Final = 10.0
_TOLD_S: Final = 8.0  # a program that waits, or comes back within a pause of its own
_START_S: Final = 30.0


class GatewayEnded(click.ClickException):
    """The gateway does not answer any more."""


class GatewayServer:
    """The gateway as the runner's process sees it."""

    def __init__(self, base: str, process: ChildServer, invite: str) -> None:
        import requests

        self._base = base
        self._process = process
        self._invite = invite
        self._http = requests.Session()
        self._http.trust_env = False  # no proxy leads to this machine

    def __enter__(self) -> GatewayServer:
        return self

    def __exit__(self, *exc: object) -> None:
        self._http.close()

    def reach(self, cup: Cup, events: JsonLines | None, absent: Set[str]) -> Cup:
        """Wait until all bots that connect are there; the cup with their URLs and tables. Those in
        `absent` play no more; their programs are told."""
        names = [bot.name for bot in cup.bots if bot.connect]
        for name in absent & set(names):
            self._call("post", f"over/{names.index(name)}")
        again, said = 0.0, None
        while missing := [
            name for name, tables in self._tables().items() if not tables and name not in absent
        ]:
            if missing != said or monotonic() >= again:
                again, said = monotonic() + _SAY_S, missing
                self._say_missing(missing, len(names), events)
            sleep(_LOOK_S)
        tables = self._tables()
        return replace(
            cup,
            bots=tuple(
                replace(
                    bot,
                    url=f"{self._base}/{names.index(bot.name)}",
                    max_matches=max(1, tables[bot.name]),
                )
                if bot.connect
                else bot
                for bot in cup.bots
            ),
        )

    def end(self) -> None:
        """Tell all programs that the cup is over, and wait a moment until they have gone."""
        self._call("post", "over")
        until = monotonic() + _TOLD_S
        while monotonic() < until and any(self._tables().values()):
            sleep(_LOOK_S)

    def wait_until_started(self) -> None:
        """Wait until it answers; GatewayEnded."""
        import requests

        until = monotonic() + _START_S
        while True:
            try:
                self._http.get(f"{self._base}/bots", timeout=_START_S).raise_for_status()
                return
            except requests.ConnectionError:
                if not self._process.running or monotonic() > until:
                    raise GatewayEnded("The gateway of bots that connect did not start.") from None
                sleep(_LOOK_S / 4)

    def _say_missing(self, missing: Sequence[str], of: int, events: JsonLines | None) -> None:
        shown = ", ".join(missing[:10]) + (", …" if len(missing) > 10 else "")
        click.echo(
            f"Waiting for {len(missing)} of {of} bots that connect: {shown}. To create a token:"
            f" {self._invite} NAME",
            err=True,
        )
        if events:
            events.emit_event("waiting", missing=list(missing))

    def _tables(self) -> dict[str, int]:
        found: dict[str, int] = self._call("get", "bots")
        return found

    def _call(self, method: str, path: str) -> Any:
        import requests

        for pause in (0.5, 1.0, 2.0, 4.0, 8.0, None):  # it may be started again
            try:
                return self._http.request(method, f"{self._base}/{path}", timeout=10).json()
            except requests.RequestException:
                if pause is None or not self._process.running:
                    break
                sleep(pause)
        raise GatewayEnded("The gateway of bots that connect has ended; run the command again.")


@contextmanager
def gateway_served(
    host: str, port: int, folder: str, cup: Cup, invite: str
) -> Iterator[GatewayServer]:
    """Serve the gateway of a cup meanwhile; `invite` is the command that makes tokens."""
    from web.gateway.server import GatewaySettings, environment

    settings = GatewaySettings(
        folder=folder,
        cup=cup.name,
        bots=tuple(bot.name for bot in cup.bots if bot.connect),
        runner_port=find_port("127.0.0.1", 0),
        secret=secrets.token_hex(16),
    )
    command = [sys.executable, "-m", "web.gateway.server", host]
    command += [str(port), str(os.getpid())]
    process = ChildServer("The gateway of bots that connect", command, environment(settings))
    try:
        base = f"http://127.0.0.1:{settings.runner_port}/{settings.secret}"
        server = GatewayServer(base, process, invite)
        server.wait_until_started()
        with server:
            yield server
    finally:
        process.close()


Reach = Callable[["Cup", "JsonLines | None", Set[str]], "Cup"]
"""Waits for the bots that connect; the cup with their URLs."""
