"""The server of the pages, a process of its own: `python -m arena.server HOST PORT [RUN]
[CONNECT_PORT]`.

RUN is a folder or a database URL; without it, the pages are those for playing. CONNECT_PORT is that
of the gateway. It ends with the process that started it.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Final

from arena.child_process import end_with_parent, lower_priority

_CONNECTIONS: Final = 1024  # further spectators wait to be accepted
_THREADS: Final = 8
_HEAD_S: Final = 10


def serve(host: str, port: int, run: str = "", connect_port: str = "") -> None:
    """Serve the pages of a run, or without one those for playing, until stopped."""
    from granian import Granian
    from granian.constants import HTTPModes, Interfaces
    from granian.http import HTTP1Settings
    from granian.log import LogLevels

    os.environ.update(STICH_ARENA_RUN=run, STICH_ARENA_CONNECT_PORT=connect_port)
    lower_priority()
    Granian(
        "arena.server:app",
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=_HEAD_S * 1000),
        workers=1,
        backpressure=_CONNECTIONS,
        blocking_threads=_THREADS,
        websockets=False,
        respawn_failed_workers=True,
        log_level=LogLevels.error,
    ).serve(target_loader=_load)


def _load(_target: str) -> Any:
    """The application; granian calls this in the worker."""
    from arena.app import create_app
    from tournament.store.reader import StoreReader

    end_with_parent()
    run = os.environ["STICH_ARENA_RUN"]
    connect_port = os.environ["STICH_ARENA_CONNECT_PORT"]
    return create_app(
        StoreReader.open(run) if run else None, int(connect_port) if connect_port else None
    )


if __name__ == "__main__":
    end_with_parent()
    serve(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
