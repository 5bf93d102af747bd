"""Attacks on processes: the bot's own, its supervisor, the worker, its opponents."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .server import FOREVER, LISTENING, answer, first, serve


def dies(connection: socket.socket, request: dict[str, Any]) -> None:
    """Gives two good answers, then ends the program."""
    if request["turn"] > 2:
        print("out of luck", flush=True)
        os._exit(3)
    first(connection, request)


def breeds(connection: socket.socket, request: dict[str, Any]) -> None:
    """Leaves a daemon behind, in another session, and notes its process id where told."""
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        if len(sys.argv) > 2:
            Path(sys.argv[2], str(os.getpid())).touch()
        signal.pause()
    first(connection, request)


def deserts(connection: socket.socket, request: dict[str, Any]) -> None:
    """Leaves a daemon behind, notes its process id, and kills its own supervisor."""
    breeds(connection, request)
    os.kill(os.getppid(), signal.SIGKILL)


def litters(connection: socket.socket, request: dict[str, Any]) -> None:
    """Leaves a closed folder and a very deep one in its home, and prints where that is."""
    home = os.environ["HOME"]
    os.makedirs(f"{home}/closed/within")
    os.chmod(f"{home}/closed", 0)
    os.chdir(home)
    for _ in range(1500):
        os.mkdir("deep")
        os.chdir("deep")
    print(home, flush=True)
    first(connection, request)


def silences(connection: socket.socket, request: dict[str, Any]) -> None:
    """Stops the worker that asks it, once."""
    mark = Path(sys.argv[2], "stopped")
    if not mark.exists():
        mark.touch()
        os.kill(_parent(os.getppid()), signal.SIGSTOP)
    first(connection, request)


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _runner(pid: int) -> int:
    """The runner above a bot's supervisor and its worker."""
    return _parent(_parent(_parent(pid)))


def _opponents() -> Iterator[tuple[int, dict[str, str]]]:
    """The processes of honest toys of the same runner, with their environment. A real attacker
    would take any bot of the user; other tests may run on this machine."""
    mine = _runner(os.getpid())
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b"toy-" in (path / "cmdline").read_bytes() and _runner(int(path.name)) == mine:
                lines = (path / "environ").read_text().split("\0")
                yield int(path.name), dict(line.split("=", 1) for line in lines if "=" in line)


def stops(connection: socket.socket, request: dict[str, Any]) -> None:
    """Stops its opponents, over and over."""

    def stop() -> None:
        while True:
            for pid, _ in _opponents():
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGSTOP)
            FOREVER.wait(0.05)

    if request["turn"] == 1:
        threading.Thread(target=stop, daemon=True).start()
    first(connection, request)


def usurps(connection: socket.socket, request: dict[str, Any]) -> None:
    """Kills its opponents, and answers at their ports."""
    for pid, env in _opponents():
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
            for _ in range(1000):
                with contextlib.suppress(OSError):
                    listener = socket.create_server(("127.0.0.1", int(env["PORT"])))
                    threading.Thread(target=serve, args=(listener, usurped), daemon=True).start()
                    break
                FOREVER.wait(0.001)
    first(connection, request)


def usurped(connection: socket.socket, request: dict[str, Any]) -> None:
    """The answer in the place of a killed opponent: one that the opponent never gives."""
    connection.sendall(answer(b'{"move": "usurped"}'))


def clogs(connection: socket.socket, request: dict[str, Any]) -> None:
    """Answers once, and first fills the backlog of its port, where it accepts nothing more."""
    old = LISTENING.pop()
    old.shutdown(socket.SHUT_RDWR)
    old.close()
    full = socket.create_server(("127.0.0.1", int(os.environ["PORT"])), backlog=0)
    LISTENING.append(full)
    for _ in range(8):
        LISTENING.append(socket.socket())
        LISTENING[-1].setblocking(False)
        LISTENING[-1].connect_ex(full.getsockname())
    connection.sendall(answer(b'{"move": "pass"}', "Connection: close"))
