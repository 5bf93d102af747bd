"""Servers that are processes of their own: they get their settings and the parent they end with
from the command that starts them, and those of spectators run at a lower priority than the cup."""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from tournament.bot.supervisor import process_tree

_NICE: Final = 10
_OTHER_FILES: Final = 256
_HEAD_S: Final = 10
_SETTINGS: Final = "STICH_SERVER"
_PARENT: Final = "STICH_SERVER_PARENT"


def command(
    module: str, host: str, port: int, settings: Mapping[str, object]
) -> tuple[list[str], dict[str, str]]:
    """The command and the environment that start a server with these settings as a child of this
    process."""
    env = {_SETTINGS: json.dumps(settings), _PARENT: str(os.getpid())}
    return [sys.executable, "-m", module, host, str(port)], {**os.environ, **env}


def _end_with_parent() -> None:
    """From now on, end this process with its parent: one that is killed cannot end it, and
    may have been killed already. The processes that this one starts take it for their parent."""
    parent = int(os.environ[_PARENT])
    os.environ[_PARENT] = str(os.getpid())
    process_tree.end_with_parent(parent)


def _load(load: Callable[..., Any], _app: str) -> Any:
    _end_with_parent()
    return load(**json.loads(os.environ[_SETTINGS]))


def serve(app: str, load: Callable[..., Any], connections: int) -> None:
    """Serve under granian until stopped; `load` makes the RSGI application of this name in
    granian's worker, from the settings that the parent has given."""
    from granian import Granian
    from granian.constants import HTTPModes, Interfaces
    from granian.http import HTTP1Settings
    from granian.log import LogLevels

    _end_with_parent()
    host, port = sys.argv[1:]
    allow_connections(connections)
    Granian(
        app,
        address=host,
        port=int(port),
        interface=Interfaces.RSGI,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=_HEAD_S * 1000),
        workers=1,
        backpressure=connections,
        websockets=False,
        respawn_failed_workers=True,
        workers_kill_timeout=1,  # calls that wait need no end
        log_level=LogLevels.error,
    ).serve(target_loader=partial(_load, load))


def lower_priority() -> None:
    """Let this process, and what it starts, have a tenth of a core where the cup needs all.

    Linux may share the cores among sessions first, so the session of this process is lowered too.
    """
    os.nice(_NICE)
    with suppress(OSError):  # where it does not do so, there is no such file
        Path("/proc/self/autogroup").write_text(str(_NICE))


def allow_connections(count: int) -> None:
    """Let this process, and what it starts, have so many connections open, or as many as it may:
    Linux usually allows 1024 files unless a process asks for more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
