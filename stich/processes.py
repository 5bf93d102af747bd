"""Servers that a command runs as child processes, and their ports: the pages of an arena, and the
gateway of connecting bots."""

import os
import secrets
import signal
import socket
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from time import monotonic, sleep
from typing import Final

import click
import requests

from tournament.config.cup import Cup
from web.child_process import command
from web.gateway.runner_client import GatewayClient

_LOOK_S: Final = 0.2
_START_S: Final = 30.0
_PAUSE_S: Final = 0.5
_STOPS: Final = 5
_WINDOW_S: Final = 60.0  # a server that stops so often in so long is not restarted


def find_port(host: str, port: int, option: str = "--port") -> int:
    """Return the port if it is free, or a free port if it is 0. `option` is the option that chooses
    it.

    Raises:
        ClickException: if the address or port cannot be used. The command exits with 1.
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
            f"Cannot listen on port {port} of {host}: {error.strerror}; choose another {option},"
            " or --host 127.0.0.1."
        ) from None


def url_of(host: str, port: int) -> str:
    """The URL of a server of this machine."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


@contextmanager
def _serving(
    name: str, module: str, host: str, port: int, settings: Mapping[str, object]
) -> Iterator[None]:
    """Run a server within this context, and restart it when it ends. `name` begins sentences about
    it.

    Raises:
        ClickException: if the server does not answer at first, or stops too often later. Then the
            command is interrupted as by SIGTERM, but exits with 1.
    """
    http = HTTPConnection(host, port, timeout=_START_S)
    closed, failed = threading.Event(), threading.Event()
    words, env = command(module, host, port, settings)

    def watch() -> None:
        if not keep_running(name, words, env, closed):
            failed.set()
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        answers, until = False, monotonic() + _START_S
        while not answers:
            if monotonic() >= until:
                raise click.ClickException(f"{name} did not start.")
            with suppress(OSError, HTTPException), closing(http):
                http.request("GET", "/healthz")
                http.getresponse()
                answers = True
            sleep(_LOOK_S / 4)
        yield
    finally:
        closed.set()
        watcher.join()
        if failed.is_set():
            raise click.ClickException(
                f"{name} has stopped {_STOPS} times within a minute, so this command ends too; see"
                " above for the reason, then run the command again."
            )


def keep_running(
    name: str,
    words: Sequence[str],
    env: Mapping[str, str],
    closed: threading.Event,
    clock: Callable[[], float] = monotonic,
) -> bool:
    """Run a server until `closed` is set, and restart it when it ends.

    `clock` returns seconds. Returns False if the server has stopped too often within a minute.
    """
    stops: deque[float] = deque(maxlen=_STOPS)
    while not closed.is_set():
        # Ctrl-C is for the command, which ends this; results on standard output are the command's
        with subprocess.Popen(  # noqa: S603 - our own program
            words, env=env, start_new_session=True, stdout=2
        ) as process:
            while process.poll() is None and not closed.wait(_LOOK_S):
                pass
            if closed.is_set():
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # the server leads its session
                return True
        stops.append(clock())
        if len(stops) == _STOPS and stops[-1] - stops[0] < _WINDOW_S:
            return False
        click.echo(f"{name} has stopped; restarting it.", err=True)
        closed.wait(_PAUSE_S)  # its port may still be in use
    return True


@contextmanager
def pages_served(host: str, port: int, **settings: str | int | None) -> Iterator[str]:
    """Within this context, serve the pages that `web.arena.server.load` creates with these
    settings.

    By default these are the pages for playing. Yields their URL. The pages have a process of their
    own, so spectators cost a cup little.
    """
    with _serving("The server of the pages", "web.arena.server", host, port, settings):
        click.echo(f"Pages at {url_of(host, port)} (Ctrl-C ends them).", err=True)
        yield url_of(host, port)


@contextmanager
def gateway_served(
    host: str, port: int, folder: str, cup: Cup, invite: str, runner_host: str
) -> Iterator[GatewayClient]:
    """Within this context, serve the gateway of a cup. Yields the runner's client of the gateway.

    `invite` is the command that creates tokens. `runner_host` is the address of this machine at
    which tables reach the gateway.
    """
    runner_port, secret = find_port(runner_host, 0), secrets.token_hex(16)
    settings = {
        "folder": folder,
        "cup": cup.name,
        "others": [bot.name for bot in cup.bots if not bot.connect],
        "runner_host": runner_host,
        "runner_port": runner_port,
        "secret": secret,
        "terms": {
            "game": cup.game,
            "players": cup.players,
            "options": dict(cup.options),
            "move_ms": cup.clock.move_ms,
            "bank_ms": cup.clock.bank_ms,
        },
    }
    name, base = "The gateway of bots that connect", f"{url_of(runner_host, runner_port)}/{secret}"
    with (
        _serving(name, "web.gateway.server", host, port, settings),
        requests.Session() as session,
    ):
        yield GatewayClient(base, session, invite)
