"""The server of the pages, a process of its own: `python -m web.arena.server HOST PORT`, started by
`web.child_process`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from web.child_process import lower_priority, serve

MAX_CONNECTIONS: Final = 1024
"""Further spectators wait to be accepted."""
_THREADS: Final = 8


@dataclass(frozen=True, slots=True)
class PagesSettings:
    """What is served: `run` is a folder or a database URL; without it, the pages are those for
    playing. `connect_port` is that of the gateway; `cup` is the file of a cup."""

    run: str | None = None
    connect_port: int | None = None
    cup: str | None = None
    folder: str | None = None


def _load(**given: Any) -> Any:
    from service.metrics import Metrics
    from service.rsgi import RsgiFront
    from service.work import Work
    from tournament.store.reader import StoreReader
    from web.arena.app import create_app

    settings = PagesSettings(**given)
    app = create_app(
        StoreReader.open(settings.run) if settings.run else None,
        settings.connect_port,
        Path(settings.cup) if settings.cup else None,
        Path(settings.folder) if settings.folder else None,
    )
    lower_priority()  # not earlier: on a busy machine it would take minutes to start
    # a client that does not finish a body occupies no thread
    max_body = app.config["MAX_CONTENT_LENGTH"]
    return RsgiFront(app, max_body, Metrics(), first=Work.LONG, threads=_THREADS)


if __name__ == "__main__":
    serve("web.arena.server:app", _load, MAX_CONNECTIONS)
