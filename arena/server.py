"""The server of the pages, a process of its own: `python -m arena.server HOST PORT [RUN]`.

RUN is a folder or a database URL; without it, the pages are those for playing. It ends with the
process that started it.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any, Final

_CONNECTIONS: Final = 1024  # further spectators wait to be accepted
_THREADS: Final = 8
_HEAD_S: Final = 10
_NICE: Final = 10  # the cup comes first


def serve(host: str, port: int, run: str | None) -> None:
    """Serve the pages of a run, or without one those for playing, until stopped."""
    from granian import Granian
    from granian.constants import HTTPModes, Interfaces
    from granian.http import HTTP1Settings
    from granian.log import LogLevels

    os.environ["STICH_ARENA_RUN"] = run or ""
    os.nice(_NICE)
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
    from tournament.store.store import Store

    threading.Thread(target=_exit_with, args=(os.getppid(),), daemon=True).start()
    run = os.environ["STICH_ARENA_RUN"]
    return create_app(Store.open(run) if run else None)


def _exit_with(parent: int) -> None:
    """End this process soon after its parent: a parent that is killed cannot end its workers."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_exit_with, args=(os.getppid(),), daemon=True).start()
    serve(sys.argv[1], int(sys.argv[2]), sys.argv[3] if sys.argv[3:] else None)
