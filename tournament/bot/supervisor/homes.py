"""Private folders of started bots without a sandbox: created, and removed whatever is in them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile

HOME_PREFIX = "stich-home-"
"""How the names of private folders begin. Their supervisors hold a lock on them; those of version
0.2.0, whose names begin with stich-bot-, held none."""


def create_home() -> tuple[str, int]:
    """A private folder for the bot, and the descriptor that holds its lock."""
    made = tempfile.mkdtemp(prefix=f"new-{HOME_PREFIX}")
    descriptor = os.open(made, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    home = os.path.join(os.path.dirname(made), os.path.basename(made).removeprefix("new-"))
    os.rename(made, home)
    return home, descriptor


def remove_home(folder: str) -> None:
    """Remove a folder with everything that a bot has put into it, however deep or closed."""
    with contextlib.suppress(OSError):
        os.rmdir(folder)  # as nearly always
        return
    for command in (["rm", "-rf"], ["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
        if os.path.lexists(folder):
            pid = os.posix_spawnp(command[0], [*command, "--", folder], os.environ)
            os.waitpid(pid, 0)
