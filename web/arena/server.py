"""The server of the pages, a process of its own: `python -m web.arena.server HOST PORT PARENT`.

The environment variable STICH_ARENA holds the other settings as JSON. It ends with the process that
started it.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from web.child_process import allow_connections, end_with_parent, lower_priority

MAX_CONNECTIONS: Final = 1024
"""Further spectators wait to be accepted."""
_THREADS: Final = 8
_HEAD_S: Final = 10


_ENVIRONMENT: Final = "STICH_ARENA"


@dataclass(frozen=True, slots=True)
class PagesSettings:
    """What is served: `run` is a folder or a database URL; without it, the pages are those for
    playing. `connect_port` is that of the gateway; `cup` is the file of a cup."""

    run: str | None = None
    connect_port: int | None = None
    cup: str | None = None


def environment(settings: PagesSettings) -> dict[str, str]:
    """The environment of a server with these settings."""
    return {**os.environ, _ENVIRONMENT: json.dumps(asdict(settings))}


def serve(host: str, port: int) -> None:
    """Serve until stopped."""
    from granian import Granian
    from granian.constants import HTTPModes, Interfaces
    from granian.http import HTTP1Settings
    from granian.log import LogLevels

    lower_priority()
    allow_connections(MAX_CONNECTIONS)
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
        log_level=LogLevels.error,
    ).serve(target_loader=_load)


def _load(_target: str) -> Any:
    """The application; granian calls this in the worker."""
    from service.metrics import Metrics
    from service.rsgi import RsgiFront
    from service.work import Work
    from tournament.store.reader import StoreReader
    from web.arena.app import create_app

    end_with_parent(os.getppid())
    settings = PagesSettings(**json.loads(os.environ[_ENVIRONMENT]))
    app = create_app(
        StoreReader.open(settings.run) if settings.run else None,
        settings.connect_port,
        Path(settings.cup) if settings.cup else None,
    )
    # a client that does not finish a body occupies no thread
    max_body = app.config["MAX_CONTENT_LENGTH"]
    return RsgiFront(app, max_body, Metrics(), first=Work.LONG, threads=_THREADS)


if __name__ == "__main__":
    end_with_parent(int(sys.argv[3]))
    serve(sys.argv[1], int(sys.argv[2]))
