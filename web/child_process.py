"""Servers that are processes of their own: they end with the command that started them, and those
of spectators run at a lower priority than the cup."""

from __future__ import annotations

import os
import resource
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

_NICE: Final = 10
_OTHER_FILES: Final = 256


def end_with_parent(parent: int) -> None:
    """From now on, end this process soon after its parent, which has this id: one that is killed
    cannot end it, and may have been killed already."""
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


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


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
