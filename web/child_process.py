"""Servers that are processes of their own: they get their settings and the parent they end with
from the command that starts them, and those of spectators run at a lower priority than the cup."""

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
    """The command and the environment that start a server with these settings as a child
    process."""
    env = {_SETTINGS: msgspec.json.encode(settings).decode(), _PARENT: str(os.getpid())}
    return [sys.executable, "-m", module, host, str(port)], {**os.environ, **env}


def begin(connections: int, settings: type[_Settings]) -> tuple[str, int, _Settings]:
    """Begin to act as a server started with `command`. Return the address, the port and the
    settings, decoded as this type.

    Allow `connections` open connections, as far as the system permits. End this process when its
    parent ends, even if the parent is already dead. Become the parent that the server's own child
    processes end with.
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
    """Lower the priority of this process and its children: they get a tenth of a core where the cup
    needs all cores.

    Linux may first share the cores among sessions, so the session of this process is lowered too.
    """
    os.nice(_NICE)
    with suppress(OSError):  # where it does not do so, there is no such file
        Path("/proc/self/autogroup").write_text(str(_NICE))
