"""The servers that commands run as child processes: an arena's pages, and the gateway of bots."""

from __future__ import annotations

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
from typing import TYPE_CHECKING, Final

import click

from web.child_process import command

if TYPE_CHECKING:
    from tournament.config.cup import Cup
    from web.gateway.runner_client import GatewayClient

_LOOK_S: Final = 0.2
_START_S: Final = 30.0
_PAUSE_S: Final = 0.5
_STOPS: Final = 5
_STOPPED: Final = os.WEXITED | os.WSTOPPED | os.WNOWAIT | os.WNOHANG
_WINDOW_S: Final = 60.0  # after _STOPS stops within this time, a server is not restarted


def find_port(host: str, port: int, option: str = "--port") -> int:
    """Return `port` if it is free, or any free port if `port` is 0. The port is not reserved.
    The error message suggests `option` for choosing another port.

    Raises:
        ClickException: if the address or the port cannot be used.
    """
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = addresses[0]
        with socket.socket(family, kind, protocol) as probe:
            # Like the server, accept a port whose last connections are still closing.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
            return int(probe.getsockname()[1])
    except (OSError, UnicodeError) as error:  # UnicodeError: the host is no possible name
        why = error.strerror if isinstance(error, OSError) else "there is no such host"
        other = "" if host == "127.0.0.1" else ", or --host 127.0.0.1"
        raise click.ClickException(
            f"Cannot listen on port {port} of {host}: {why}; choose another {option}{other}."
        ) from None


def url_of(host: str, port: int) -> str:
    """Return the HTTP URL of a server on this machine. An IPv6 address is put in brackets."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


@contextmanager
def _serving(
    name: str, module: str, host: str, port: int, settings: Mapping[str, object]
) -> Iterator[None]:
    """Run a server as a child process within this context, which begins once the server answers.

    Messages call the server `name`. `settings` must be those of `module`, and encodable as JSON.

    Raises:
        ClickException: if the server does not answer within 30 seconds, or has stopped 5 times
            within a minute. In the latter case, this process first sends itself SIGTERM.
    """
    http = HTTPConnection(host, port, timeout=_START_S)
    closed, failed = threading.Event(), threading.Event()
    argv, env = command(module, host, port, settings)

    def watch() -> None:
        if not keep_running(name, argv, env, closed):
            failed.set()
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        until = monotonic() + _START_S
        while True:
            with suppress(OSError, HTTPException), closing(http):
                http.request("GET", "/healthz")
                http.getresponse()
                break
            if monotonic() >= until:
                raise click.ClickException(f"{name} did not start.")
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
    argv: Sequence[str],
    env: Mapping[str, str],
    closed: threading.Event,
    clock: Callable[[], float] = monotonic,
) -> bool:
    """Run a server until `closed` is set. If the server ends or is suspended (SIGSTOP), kill it,
    print a message and restart it. Once `closed` is set, kill the server and its child processes,
    and return True. If the server has stopped 5 times within a minute by `clock`, which returns
    seconds, return False."""
    stops: deque[float] = deque(maxlen=_STOPS)
    while not closed.is_set():
        # A new session keeps Ctrl-C from the server: the command ends it. Standard output is for
        # the command's results.
        with subprocess.Popen(  # noqa: S603 - our own program
            argv, env=env, start_new_session=True, stdout=2
        ) as process:
            while not os.waitid(os.P_PID, process.pid, _STOPPED) and not closed.wait(_LOOK_S):
                pass
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # the server leads its session
            if closed.is_set():
                return True
        stops.append(clock())
        if len(stops) == _STOPS and stops[-1] - stops[0] < _WINDOW_S:
            return False
        click.echo(f"{name} has stopped; restarting it.", err=True)
        closed.wait(_PAUSE_S)  # its port may still be in use
    return True


@contextmanager
def pages_served(host: str, port: int, **settings: str | int | None) -> Iterator[str]:
    """Serve the pages of an arena in another process within this context. Yield the URL of the
    pages, which is also printed on standard error.

    The settings are those of `web.arena.server`. If neither `run` nor `matches` is given,
    only the pages for playing are served.

    Raises:
        ClickException: if the server does not start, or stops too often. In the latter case, this
            process first sends itself SIGTERM.
    """
    with _serving("The server of the pages", "web.arena.server", host, port, settings):
        click.echo(f"Pages at {url_of(host, port)} (Ctrl-C ends them).", err=True)
        yield url_of(host, port)


@contextmanager
def gateway_served(
    host: str, port: int, folder: str, cup: Cup, invite: str, runner_host: str
) -> Iterator[GatewayClient]:
    """Serve the gateway of a cup within this context, which begins once the gateway answers. Yield
    a client through which the runner uses the gateway.

    Authors' programs connect to `host` and `port`. `folder` is the run's folder, which has the
    invitations. `invite` is the command that creates tokens, without the name of a bot.
    `runner_host` is the address at which tables reach the gateway on this machine.

    Raises:
        ClickException: as in `pages_served`, or if there is no free port at `runner_host`.
    """
    # imported only here, so that `stich serve` starts fast
    import requests

    from web.gateway.runner_client import GatewayClient

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
    name = "The gateway of bots that connect"
    with _serving(name, "web.gateway.server", host, port, settings), requests.Session() as session:
        yield GatewayClient(f"{url_of(runner_host, runner_port)}/{secret}", session, invite)
