"""The server of the pages, a process of its own: `python -m web.arena.server HOST PORT`, started by
`web.child_process`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from web.child_process import begin, lower_priority

MAX_CONNECTIONS: Final = 1024
"""Further spectators wait to be accepted."""
_THREADS: Final = 8
_HEAD_S: Final = 10


def load(
    run: str | None = None,
    connect_port: int | None = None,
    cup: str | None = None,
    folder: str | None = None,
) -> Any:
    """The RSGI application of the pages of `run`, a folder or a database URL; without it, they are
    those for playing. The others are as in `create_app`."""
    from service.metrics import Metrics
    from service.rsgi import RsgiFront
    from tournament.store.reader import StoreReader
    from web.arena.app import create_app

    app = create_app(
        StoreReader.open(run) if run else None,
        connect_port,
        Path(cup) if cup else None,
        Path(folder) if folder else None,
        run,
    )
    lower_priority()  # not earlier: on a busy machine it would take minutes to start
    # a client that does not finish a body occupies no thread
    max_body = app.config["MAX_CONTENT_LENGTH"]
    return RsgiFront(app, max_body, Metrics(), on_loop=False, threads=_THREADS)


def _load(_app: str) -> Any:
    """In granian's worker."""
    *_, settings = begin(MAX_CONNECTIONS)
    return load(**settings)


def _serve() -> None:
    from granian import Granian
    from granian.constants import HTTPModes, Interfaces
    from granian.http import HTTP1Settings
    from granian.log import LogLevels

    host, port, _ = begin(MAX_CONNECTIONS)
    Granian(
        "web.arena.server:app",
        address=host,
        port=port,
        interface=Interfaces.RSGI,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=_HEAD_S * 1000),
        workers=1,
        backpressure=MAX_CONNECTIONS,
        websockets=False,
        respawn_failed_workers=True,
        workers_kill_timeout=1,
        log_level=LogLevels.error,
    ).serve(target_loader=_load)


if __name__ == "__main__":
    _serve()
