"""Bots in a sandbox, where bubblewrap is installed.

A bot in it has no network but a loopback of its own, a private /tmp and home, processes of its
own, and sees read-only: the system's programs and libraries, this Python, the folder of the
project, the current folder, and the folders that its command names. The CUP.toml and the run's
folder, where the seed is, are not there.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tournament.config import Cup

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt")
_ETC = (
    "alternatives",
    "group",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "nsswitch.conf",
    "passwd",
    "ssl",
)
_CONNECTOR = Path(__file__).with_name("connector.py")
_APART = (
    "--unshare-user",
    "--unshare-net",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--cap-drop",
    "ALL",
    "--die-with-parent",
)


class SandboxError(Exception):
    """The sandbox cannot be had; the text is a sentence that says why."""


def prefix(cup: Cup, path: str, folder: Path | None) -> tuple[str, ...]:
    """What stands before a bot's command, `{home}` and `{door}` still to be filled in.

    Nothing without a sandbox. SandboxError if there is to be one and cannot be.
    """
    if not cup.sandbox:
        return ()
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise SandboxError(
            "[sandbox] enabled = true needs bubblewrap, and bwrap was not found: install the"
            " package bubblewrap, or set enabled = false."
        )
    _try(bwrap)
    seen = _visible(cup)
    words = [bwrap, *_APART, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108
    for place in _SYSTEM:
        words += ["--ro-bind-try", place, place]
    for name in _ETC:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    for place in seen:
        words += ["--ro-bind", place, place]
    words += ["--bind", "{home}", "{home}"]
    words += _hidden(Path(path), folder, seen)
    words += ["--chdir", os.getcwd()]
    return (*words, "--", sys.executable, "-I", "-S", str(_CONNECTOR), "{door}")


def _try(bwrap: str) -> None:
    """Say it now if the system does not allow sandboxes."""
    done = subprocess.run(  # noqa: S603 - bubblewrap itself
        [bwrap, *_APART, "--ro-bind", "/", "/", "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise SandboxError(
            f"[sandbox] enabled = true, but this system does not allow it ({why}): allow"
            " unprivileged user namespaces, or set enabled = false."
        )


def _visible(cup: Cup) -> list[str]:
    """The folders that bots may read, outer ones first."""
    found = {
        Path.cwd(),
        Path(__file__).resolve().parent.parent,
        Path(sys.prefix).resolve(),
        Path(sys.base_prefix).resolve(),
    }
    for bot in cup.bots:
        if bot.command is not None:
            found.update(_named(shlex.split(bot.command)))
    found = {place for place in found if place != Path("/")}
    return sorted(str(place) for place in found if not _within(place, found - {place}))


def _named(argv: Iterable[str]) -> Iterable[Path]:
    """The folders of the files that a command names, its program among them."""
    for at, word in enumerate(argv):
        place = Path((shutil.which(word) if at == 0 else None) or word)
        if "/" in word and place.exists():
            yield place.resolve() if place.is_dir() else place.resolve().parent
            yield place.absolute() if place.is_dir() else place.absolute().parent
        elif at == 0 and place.exists():
            yield place.resolve().parent


def _within(place: Path, others: Iterable[Path]) -> bool:
    return any(place.is_relative_to(other) for other in others)


def _hidden(cup: Path, folder: Path | None, seen: Iterable[str]) -> list[str]:
    """Cover the cup and the run where they lie in a folder that bots see."""
    visible = [Path(place) for place in seen]
    words = []
    for place in {cup.absolute(), cup.resolve()}:
        if _within(place, visible):
            words += ["--ro-bind", os.devnull, str(place)]
    if folder is not None:
        for place in {folder.absolute(), folder.resolve()}:
            if _within(place, visible):
                words += ["--tmpfs", str(place)]
    return words
