"""Servers beside a command, in processes of their own: the arena's pages, and the gateway of bots
that connect; and the ports they listen at."""

from __future__ import annotations

import http.client
import os
import secrets
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

import click
import requests

from web.arena.server import PagesSettings
from web.child_process import command, environment
from web.gateway.server import GatewaySettings

if TYPE_CHECKING:
    from tournament.config import Cup
    from tournament.run.session import Waiting

_LOOK_S: Final = 0.2
_START_S: Final = 30.0
_PAUSE_S: Final = 1.0
_STARTS: Final = 5
_END_S: Final = 2.0
_WAITING_S: Final = 10.0
_OVER_S: Final = 8.0  # until a program that waits, or pauses before it connects again, is notified


def find_port(host: str, port: int) -> int:
    """Check that the port is free, and replace 0 by a free port.

    Raises:
        ClickException: the address or port cannot be used; the command exits with 1.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        with socket.socket(family, kind, protocol) as probe:
            # As the server does: a port counts as free while its last connections are closing.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
            return int(probe.getsockname()[1])
    except OSError as error:
        raise click.ClickException(
            f"Cannot listen on port {port} of {host}: {error.strerror}; choose another --port, or"
            " --host 127.0.0.1."
        ) from None


def url_of(host: str, port: int) -> str:
    """The URL of a server of this machine."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


class ChildServer:
    """A server that runs until `close`, and is started again when it ends; `name` begins a
    sentence."""

    def __init__(
        self,
        name: str,
        module: str,
        host: str,
        port: int,
        settings: PagesSettings | GatewaySettings,
    ) -> None:
        self._name = name
        self._command = command(module, host, port)
        self._env = environment(settings)
        self._http = http.client.HTTPConnection(host, port, timeout=_START_S)
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._process = self._start()
        self.running = True
        """False once it is not started again."""
        self._answers = False
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def wait_until_started(self) -> None:
        """Wait until it answers; ClickException if it does not."""
        until = monotonic() + _START_S
        while self.running and monotonic() < until:
            with suppress(OSError, http.client.HTTPException), closing(self._http):
                self._http.request("GET", "/healthz")
                self._http.getresponse()
                self._answers = True
                return
            sleep(_LOOK_S / 4)
        raise click.ClickException(f"{self._name} did not start.")

    def close(self) -> None:
        """End it."""
        with self._lock:
            self._closing.set()
        if self._answers:  # before, it ignores SIGTERM
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_S)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # it is the first of its session
        self._process.wait()
        self._watcher.join()

    def _start(self) -> subprocess.Popen[bytes]:
        # Ctrl-C is for the command, which ends this; results on standard output are the command's
        return subprocess.Popen(  # noqa: S603 - our own program
            self._command, env=self._env, start_new_session=True, stdout=2
        )

    def _watch(self) -> None:
        for left in reversed(range(_STARTS)):
            self._process.wait()
            if self._closing.is_set():
                return
            what = "restarting it" if left else "it has stopped too often; run the command again"
            click.echo(f"{self._name} has stopped; {what}.", err=True)
            self._closing.wait(_PAUSE_S)  # its port may still be in use
            with self._lock:
                if self._closing.is_set():
                    return
                if left:
                    self._process = self._start()
        self.running = False


@contextmanager
def _serving(process: ChildServer) -> Iterator[None]:
    try:
        process.wait_until_started()
        yield
    finally:
        process.close()


@contextmanager
def pages_served(host: str, port: int, settings: PagesSettings | None = None) -> Iterator[str]:
    """Serve these pages meanwhile, by default those for playing; their URL.

    They have a process of their own, so spectators cost a cup little.
    """
    settings = settings or PagesSettings()
    name = "The server of the pages"
    with _serving(ChildServer(name, "web.arena.server", host, port, settings)):
        click.echo(f"Pages at {url_of(host, port)} (Ctrl-C ends them).", err=True)
        yield url_of(host, port)


class GatewayClient:
    """Calls the gateway, in the process of the runner. `invite` is the command that makes
    tokens."""

    def __init__(
        self,
        settings: GatewaySettings,
        process: ChildServer,
        session: requests.Session,
        invite: str,
    ) -> None:
        self._bots = settings.bots
        self._excluded: frozenset[str] = frozenset()
        self._base = f"http://127.0.0.1:{settings.runner_port}/{settings.secret}"
        self._process = process
        self._invite = invite
        self._session = session
        session.trust_env = False  # no proxy leads to this machine

    def wait_for_bots(
        self, cup: Cup, absent: Callable[[], frozenset[str]], waiting: Waiting
    ) -> Cup:
        """Wait until all bots that connect are there, but for those that are `absent`, whose
        programs are notified; the cup with their URLs and tables."""
        again, known = 0.0, None
        while True:
            gone, tables = absent(), self._tables()
            self.exclude(gone)
            missing = [name for name in self._bots if not tables[name] and name not in gone]
            if not missing:
                break
            if missing != known or monotonic() >= again:
                again, known = monotonic() + _WAITING_S, missing
                waiting(missing, len(self._bots), f"{self._invite} NAME")
            sleep(_LOOK_S)
        bots = {bot.name: bot for bot in cup.bots}
        for number, name in enumerate(self._bots):
            url, most = f"{self._base}/{number}", max(1, tables[name])
            bots[name] = replace(bots[name], url=url, max_matches=most)
        return replace(cup, bots=tuple(bots.values()))

    def exclude(self, bots: frozenset[str]) -> None:
        """The programs of these bots are notified that they play no more; all others may play."""
        if bots != self._excluded:
            numbers = [number for number, name in enumerate(self._bots) if name in bots]
            self._call("post", "excluded", numbers)
            self._excluded = bots

    def end(self) -> None:
        """Tell all programs that the cup is over, and wait a moment until they have gone."""
        self._call("post", "over")
        until = monotonic() + _OVER_S
        while monotonic() < until and any(self._tables().values()):
            sleep(_LOOK_S)

    def _tables(self) -> dict[str, int]:
        found: dict[str, int] = self._call("get", "bots")
        return found

    def _call(self, method: str, path: str, data: Sequence[int] | None = None) -> Any:
        until = monotonic() + _START_S
        while True:
            try:
                url = f"{self._base}/{path}"
                return self._session.request(method, url, json=data, timeout=10).json()
            except requests.RequestException:  # it may be started again
                if monotonic() >= until or not self._process.running:
                    raise click.ClickException(
                        "The gateway of bots that connect has ended; run the command again."
                    ) from None
                sleep(_PAUSE_S)


@contextmanager
def gateway_served(
    host: str, port: int, folder: str, cup: Cup, invite: str
) -> Iterator[GatewayClient]:
    """Serve the gateway of a cup meanwhile; `invite` is the command that makes tokens."""
    settings = GatewaySettings(
        folder=folder,
        cup=cup.name,
        bots=tuple(bot.name for bot in cup.bots if bot.connect),
        runner_port=find_port("127.0.0.1", 0),
        secret=secrets.token_hex(16),
    )
    name = "The gateway of bots that connect"
    process = ChildServer(name, "web.gateway.server", host, port, settings)
    with _serving(process), requests.Session() as session:
        yield GatewayClient(settings, process, session, invite)
