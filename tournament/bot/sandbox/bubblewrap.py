"""Bots in a sandbox, where bubblewrap is installed and the system allows it.

A bot in it has its own network with nothing but loopback, its own processes, and a private home in
memory, which is /tmp. It may write nowhere else. Read-only it sees the system's programs and
libraries and its own files (`visible`). It cannot create namespaces, and a seccomp filter denies
system calls that no bot needs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tournament.bot.sandbox import seccomp
from tournament.bot.sandbox.visible import SYSTEM, Command, covers, outermost
from tournament.config import Bot, Limits

SANDBOX_HOME = "/tmp"  # noqa: S108 - that of the sandbox
"""The home of a bot in a sandbox."""

HOME_MB = 256
SHARED_MEMORY_MB = 64
"""Sizes of the folders in which a bot may write: /tmp and /dev/shm."""

_ETC = (
    "alternatives",
    "group",
    "hosts",
    "java-*",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "nsswitch.conf",
    "passwd",
    "ssl",
)
_ISOLATION = (
    *("--unshare-user", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-cgroup-try", "--disable-userns", "--cap-drop", "ALL", "--die-with-parent"),
)
_INSTALL = "install the package bubblewrap"
_NEWER = "install bubblewrap 0.8 or newer"
_ALLOW = "allow unprivileged user namespaces"


class SandboxError(Exception):
    """A sandbox is not possible; the text is a sentence that says why."""


def sandboxes(
    bots: Sequence[Bot], folder: Path, limits: Limits, secret: Iterable[Path]
) -> Mapping[str, tuple[str, ...]]:
    """For each bot that is started, by name, the words that start a sandbox and go before its
    command. Relative paths start from `folder`; what is `secret` is covered in all sandboxes.
    SandboxError, which says why and how to fix it, if the system does not allow sandboxes."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise SandboxError(f"bwrap was not found ({_INSTALL})")
    commands = {bot.name: Command.of(bot, folder) for bot in bots if bot.command is not None}
    hidden = list(secret)
    found = {
        name: _words(bwrap, command, commands.values(), limits, hidden)
        for name, command in commands.items()
    }
    if found:
        _try(next(iter(found.values())))
    return found


def _words(
    bwrap: str,
    command: Command,
    others: Iterable[Command],
    limits: Limits,
    secret: Sequence[Path],
) -> tuple[str, ...]:
    words = [bwrap, *_ISOLATION, "--proc", "/proc", "--dev", "/dev"]
    words += ["--size", str(SHARED_MEMORY_MB << 20), "--tmpfs", "/dev/shm"]  # noqa: S108 - that of the sandbox
    words += ["--size", str(HOME_MB << 20), "--tmpfs", SANDBOX_HOME]
    etc = sorted(str(path) for name in _ETC for path in Path("/etc").glob(name))
    for place in (*map(str, SYSTEM), *etc):
        words += ["--ro-bind-try", place, place]
    for path in outermost(command.visible):
        words += ["--ro-bind", str(path), str(path)]
    folders, files = covers(command, others, secret)
    for path in sorted(folders):
        words += ["--tmpfs", str(path)]
    for path in sorted(files):
        words += ["--ro-bind", os.devnull, str(path)]
    words += ["--dir", str(command.folder)]
    for place in (*map(str, sorted(folders)), "/dev", "/"):
        words += ["--remount-ro", place]
    # The limit on processes is set inside, where only the bot's own count.
    nproc = f"--nproc={limits.processes}"
    return (*words, "--chdir", str(command.folder), "--", "/usr/bin/prlimit", nproc, "--")


def _try(words: Sequence[str]) -> None:
    """SandboxError if the system does not allow this sandbox."""
    with seccomp.opened() as (options, descriptors):
        done = subprocess.run(  # noqa: S603 - bubblewrap itself
            [words[0], *options, *words[1:], "true"],
            pass_fds=descriptors,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        old = "nknown option" in why
        raise SandboxError(f"{why} ({_NEWER if old else _ALLOW})")
