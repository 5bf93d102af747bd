"""The control group of one bot: created, ended, and removed with what the bot has created in it."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping


def create(folder: str, files: Mapping[str, str]) -> None:
    """Create a group and write its limits. A system without swap has no limit on it."""
    os.mkdir(folder)
    for name, value in files.items():
        path = os.path.join(folder, name)
        if name != "memory.swap.max" or os.path.exists(path):
            with open(path, "w") as file:
                file.write(value)


def kill(folder: str) -> None:
    """Kill every process in a group and in the groups below it."""
    with contextlib.suppress(OSError), open(f"{folder}/cgroup.kill", "w") as file:
        file.write("1")


def remove(folder: str) -> None:
    """Remove a group whose processes were killed, and the groups below it."""
    for _ in range(1000):
        for path, _, _ in os.walk(folder, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(path)
        if not os.path.exists(folder):
            return
        time.sleep(0.001)  # the last processes are still ending
