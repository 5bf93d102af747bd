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
    """Answer in the first two turns of a match. At a later turn, end the program."""
    if request["turn"] > 2:
        print("out of luck", flush=True)
        os._exit(3)
    first(connection, request)


def breeds(connection: socket.socket, request: dict[str, Any]) -> None:
    """Leave a daemon behind, in another session if possible. Its pid names a file in argv[2]."""
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
    """Leave a locked folder and a deeply nested one in the home folder, and print where it is."""
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
    """Stop the worker that asks, which is the supervisor's parent, but only once."""
    mark = Path(sys.argv[2], "stopped")
    if not mark.exists():
        mark.touch()
        stat = Path(f"/proc/{os.getppid()}/stat").read_text()
        os.kill(int(stat.rpartition(")")[2].split()[1]), signal.SIGSTOP)
    first(connection, request)


def clogs(connection: socket.socket, request: dict[str, Any]) -> None:
    """Fill the backlog of the bot's port, which then accepts nothing more, and answer."""
    listener = LISTENING.pop()
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    full = socket.create_server(("127.0.0.1", int(os.environ["PORT"])), backlog=0)
    LISTENING.append(full)
    for _ in range(8):
        LISTENING.append(socket.socket())
        LISTENING[-1].setblocking(False)
        LISTENING[-1].connect_ex(full.getsockname())
    connection.sendall(answer(b'{"move": "pass"}', "Connection: close"))
