"""Attempts to get out of the sandbox, or to see what is outside."""

import contextlib
import ctypes
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .server import first


def spies(connection: socket.socket, request: dict[str, Any]) -> None:
    """Print what can be read, written and reached, then answer."""
    import urllib.request

    cup, outside = Path(sys.argv[2]), sys.argv[3]
    try:
        urllib.request.urlopen(outside, timeout=2)
        print("reached the outside")
    except OSError:
        print("no outside")
    secrets: dict[str, Callable[[], object]] = {
        "cup": cup.read_text,
        "runs": lambda: os.listdir(cup.parent / "runs"),
        "key": (cup.parent / "state" / "stich" / "signing-key").read_text,
        "notes": (cup.parent / "notes.txt").read_text,
    }
    for name, read in secrets.items():
        secret: object = ""
        with contextlib.suppress(OSError):
            secret = read()
        print(name, "hidden" if secret == "" else secret)
    for place in (cup.parent / "scribble", Path(__file__).with_name("scribble")):
        try:
            place.write_text("was here")
            print("wrote", place)
        except OSError:
            print("cannot write")
    Path(os.environ["HOME"], "note").write_text("home is writable")
    print("env:", sorted(os.environ))
    print("processes:", len([name for name in os.listdir("/proc") if name.isdigit()]), flush=True)
    first(connection, request)


def copies() -> None:
    """Print how many descriptors of other processes can be copied (pidfd_getfd)."""
    libc = ctypes.CDLL(None, use_errno=True)
    copied = 0
    for pid in [int(name) for name in os.listdir("/proc") if name.isdigit()]:
        if pid in (os.getpid(), 1):
            continue
        with contextlib.suppress(OSError):
            handle = os.pidfd_open(pid)
            copied += sum(libc.syscall(438, handle, number, 0) >= 0 for number in range(40))
    print("copied", copied)


def escapes() -> None:
    """Print which doors to the kernel and to other processes are open."""
    libc = ctypes.CDLL(None, use_errno=True)
    tries: dict[str, Callable[[], int]] = {
        "user namespace": lambda: libc.unshare(0x10000000),
        "clone": lambda: libc.syscall(56, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0),
        "clone3": lambda: libc.syscall(435, 0, 0),
        "mount": lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None),
        "ptrace": lambda: libc.ptrace(16, 1, 0, 0),
        "keyring": lambda: libc.syscall(250, 0, -3, 1),
        "bpf": lambda: libc.syscall(321, 0, 0, 0),
        "io_uring": lambda: libc.syscall(425, 8, ctypes.create_string_buffer(256)),
        "vsock": lambda: socket.socket(40, socket.SOCK_STREAM).fileno(),
        "crypto socket": lambda: socket.socket(38, socket.SOCK_SEQPACKET).fileno(),
        "root folder": lambda: os.open("/scribble", os.O_CREAT),
        "session": lambda: libc.setsid(),
        "devices": lambda: os.open("/dev/scribble", os.O_CREAT),
        "kernel settings": lambda: os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY),
    }
    for name, attempt in tries.items():
        try:
            done = attempt()
        except OSError:
            done = -1
        if name == "clone" and done == 0:
            os._exit(0)
        print(name, "open" if done >= 0 else "closed")
    print(
        next(line for line in Path("/proc/self/status").read_text().split("\n") if "CapEff" in line)
    )
