"""The server of the pages, for `web.child_process`: `python -m web.arena.server HOST PORT`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels

from web.child_process import begin, lower_priority

if TYPE_CHECKING:
    from tournament.store.run_reader import RunReader

MAX_CONNECTIONS: Final = 1024  # open at a time; further spectators wait to be accepted
_THREADS: Final = 8
_HEAD_S: Final = 10


class _Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of `create_app`. `matches` is a file of matches to serve instead of `run`."""

    run: str | None = None
    matches: str | None = None
    connect_port: int | None = None
    cup: str | None = None
    folder: str | None = None


def load(_app: str) -> Any:
    """Set up the worker process in which granian calls this function, lower its priority, and
    return the RSGI application of the pages. `_app` is ignored.

    Raises:
        StichError: if the cup file, the run or the file of matches cannot be used.
        OSError: if the file of matches cannot be opened.
    """
    from prometheus_client import CollectorRegistry

    from serving.rsgi import RsgiFront
    from web.arena.app import create_app

    *_, settings = begin(MAX_CONNECTIONS, _Settings)
    cup, folder = (Path(path) if path else None for path in (settings.cup, settings.folder))
    app = create_app(_reader(settings), settings.connect_port, cup, folder, settings.run)
    lower_priority()  # not earlier: on a busy machine it would take minutes to start
    # a client that does not finish a body occupies no thread
    max_body = app.config["MAX_CONTENT_LENGTH"]
    return RsgiFront(app, max_body, CollectorRegistry(), on_loop=False, threads=_THREADS)


def _reader(settings: _Settings) -> RunReader | None:
    if settings.matches is not None:
        from tournament.results.files.match_file import MatchFile

        with open(settings.matches, "rb") as lines:
            return MatchFile(lines, settings.matches)
    from tournament.store.reader import StoreReader

    return StoreReader.open(settings.run) if settings.run is not None else None


if __name__ == "__main__":
    host, port, _ = begin(MAX_CONNECTIONS, _Settings)
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
    ).serve(target_loader=load)
