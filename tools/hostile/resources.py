"""Attacks on the machine: memory, processes, disk, output."""

import contextlib
import mmap
import os
import signal
import socket
import sys
from typing import Any

from .server import first


def floods(connection: socket.socket, request: dict[str, Any]) -> None:
    for _ in range(2000):
        sys.stderr.write("flood " * 1000 + "\n")
    first(connection, request)


def hungry(connection: socket.socket, request: dict[str, Any]) -> None:
    pieces = []
    while True:
        pieces.append(b"x" * 10_000_000)


def swarms(connection: socket.socket, request: dict[str, Any]) -> None:
    """Write to 100 MB of memory in each of eight processes, then answer."""
    read, write = os.pipe()
    for _ in range(8):
        if os.fork() == 0:
            held = bytearray(100_000_000)
            held[::4096] = b"x" * len(held[::4096])
            os.write(write, b"x")
            signal.pause()
    ready = 0
    while ready < 8:
        ready += len(os.read(read, 8))
    first(connection, request)


def hoards(connection: socket.socket, request: dict[str, Any]) -> None:
    """Write to 800 MB of memory that could be shared, then answer."""
    shared = mmap.mmap(-1, 800_000_000)
    shared[::4096] = b"x" * len(shared[::4096])
    first(connection, request)


def multiplies(connection: socket.socket, request: dict[str, Any]) -> None:
    """Start as many processes as possible, print how many, then answer."""
    print(_forked(), flush=True)
    first(connection, request)


def _forked() -> int:
    """Start up to 2,000 processes, in sessions of their own if possible. Return how many."""
    started = 0
    with contextlib.suppress(OSError):
        while started < 2000:
            if os.fork() == 0:
                with contextlib.suppress(PermissionError):  # in the sandbox
                    os.setsid()
                signal.pause()
            started += 1
    return started


def bombs() -> None:
    """Start as many processes as possible, print how many, and end them all."""
    print("started", _forked(), flush=True)
    os.kill(-1, signal.SIGKILL)


def gorges() -> None:
    """Print how many MiB, up to 1,024, can be written to each of two folders."""
    for folder in ("/tmp", "/dev/shm"):
        written = 0
        with contextlib.suppress(OSError), open(f"{folder}/big", "wb", buffering=0) as file:
            for _ in range(1024):
                written += file.write(bytes(1 << 20))
        print(folder, written >> 20)
        with contextlib.suppress(OSError):
            os.unlink(f"{folder}/big")
