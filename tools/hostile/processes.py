"""Attacks on processes: the bot's own, and the worker."""

import contextlib
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from .server import LISTENING, answer, first


def dies(connection: socket.socket, request: dict[str, Any]) -> None:
    """Gives two good answers, then ends the program."""
    if request["turn"] > 2:
        print("out of luck", flush=True)
        os._exit(3)
    first(connection, request)


def breeds(connection: socket.socket, request: dict[str, Any]) -> None:
    """Leaves a daemon behind, in another session, and notes its process id where told."""
    if os.fork() == 0:
        with contextlib.suppress(PermissionError):  # in the sandbox
            os.setsid()
        if os.fork():
            os._exit(0)
        if len(sys.argv) > 2:
            Path(sys.argv[2], str(os.getpid())).touch()
        signal.pause()
    first(connection, request)


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
