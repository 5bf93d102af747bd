"""What bots leave behind when their supervisor is killed: removed before the next run."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import tempfile
from pathlib import Path

from tournament.bot.supervisor.homes import HOME_PREFIX, remove_home


def remove_leftovers() -> None:
    """Remove the homes of bots that no supervisor holds locked, and end the processes in them."""
    for home in Path(tempfile.gettempdir()).glob(f"{HOME_PREFIX}*"):
        with contextlib.suppress(OSError):
            if home.is_symlink() or home.lstat().st_uid != os.geteuid():
                continue
            home.chmod(0o700)
            descriptor = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _end_processes(home)
                remove_home(str(home))
            finally:
                os.close(descriptor)


def _end_processes(home: Path) -> None:
    """Kill the processes that were started with this home."""
    mark = f"TMPDIR={home}".encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                os.kill(int(pid), signal.SIGKILL)
