"""Servers that run as child processes of a command, and end when it ends."""

import os
import resource
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from tournament.bot.supervisor import process_tree

_NICE: Final = 10
_OTHER_FILES: Final = 256
_SETTINGS: Final = "STICH_SERVER"
_PARENT: Final = "STICH_SERVER_PARENT"
_Settings = TypeVar("_Settings")


def command(
    module: str, host: str, port: int, settings: Mapping[str, object]
) -> tuple[list[str], dict[str, str]]:
    """Return the command line and the environment that start `module` as a server with these
    settings, at this address and port. This process must start the server. The server is killed
    when this process, or the thread that started the server, ends."""
    env = {_SETTINGS: msgspec.json.encode(settings).decode(), _PARENT: str(os.getpid())}
    return [sys.executable, "-m", module, host, str(port)], {**os.environ, **env}


def begin(connections: int, settings: type[_Settings]) -> tuple[str, int, _Settings]:
    """Set up this process, which was started with `command`, as a server. Return its address, its
    port and its settings, decoded as the type `settings`.

    Raise the limit on open files so that `connections` clients can connect, as far as the system
    permits. Make this process end with its parent, and child processes that call `begin` end with
    this process. If the parent has ended already, exit at once.
    """
    parent = int(os.environ[_PARENT])
    os.environ[_PARENT] = str(os.getpid())
    process_tree.end_with_parent(parent)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:  # usually 1024 on Linux
        allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    host, port = sys.argv[1:]
    return host, int(port), msgspec.json.decode(os.environ[_SETTINGS], type=settings)


def lower_priority() -> None:
    """Move this process, which must not lead a process group, into a new session (Linux may share
    cores by session), and lower the priority of both, so that this process and its later children
    get about a tenth of a core while the cup needs all cores."""
    os.setsid()  # so that a process that replaces this one starts with the usual priority
    os.nice(_NICE)
    with suppress(OSError):  # a kernel that does not share by session has no such file
        Path("/proc/self/autogroup").write_text(str(_NICE))
