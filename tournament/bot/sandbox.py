"""Bots in a sandbox, where bubblewrap is installed.

A bot in it has its own network with nothing but loopback, its own processes, a private /tmp and a
private home. Read-only it sees the system's programs and libraries, this Python, the project's
folder, its own folder, and the folders that its command names. The CUP.toml and the run's
folder, which tell the seed, are covered; so are other cups and runs, `HIDDEN_DEPTH` folders deep.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Iterable
from pathlib import Path

from tournament.config import Cup
from tournament.config.parse import LARGEST
from tournament.store.store import FILE

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
HIDDEN_DEPTH = 5
"""How deep in a visible folder other cups and runs are looked for."""

_MAX_FOLDERS = 20_000
_SKIPPED = (".git", ".venv", "__pycache__", "node_modules")
_RUNS = "runs"
_PROXY = Path(__file__).with_name("sandbox_proxy.py")
_ISOLATION = (
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
    """A sandbox is not possible; the text is a sentence that says why."""


def prefix(cup: Cup, path: str, folder: Path | None) -> tuple[str, ...]:
    """The words before a bot's command; `{home}`, `{cwd}` and `{proxy}` are filled in later.

    Empty if the cup wants no sandbox. SandboxError if it wants one and there can be none.
    """
    if not cup.sandbox:
        return ()
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise SandboxError(
            "[sandbox] enabled = true needs bubblewrap, and bwrap was not found: install the"
            " package bubblewrap, or set enabled = false."
        )
    _check_allowed(bwrap)
    needed = _needed(cup, Path(path).absolute().parent)
    words = [bwrap, *_ISOLATION, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108
    for place in _SYSTEM:
        words += ["--ro-bind-try", place, place]
    for name in _ETC:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    for place in _outermost(needed):
        words += ["--ro-bind", place, place]
    words += ["--bind", "{home}", "{home}"]
    words += _hidden(Path(path), folder, needed)
    words += ["--chdir", "{cwd}"]
    return (*words, "--", sys.executable, "-I", "-S", str(_PROXY), "{proxy}")


def _check_allowed(bwrap: str) -> None:
    """SandboxError if the system does not allow sandboxes."""
    done = subprocess.run(  # noqa: S603 - bubblewrap itself
        [bwrap, *_ISOLATION, "--ro-bind", "/", "/", "true"],
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


def _needed(cup: Cup, folder: Path) -> set[Path]:
    """The folders that the bots of a cup in this folder may read."""
    found = {
        folder,
        Path(__file__).resolve().parents[2],
        Path(sys.prefix).resolve(),
        Path(sys.base_prefix).resolve(),
    }
    for bot in cup.bots:
        if bot.command is not None:
            place = (folder / (bot.dir or "")).resolve()
            found.add(place)
            found.update(_named(shlex.split(bot.command), place))
    return {place for place in found if place != Path("/")}


def _outermost(found: set[Path]) -> list[str]:
    """The outermost of these folders."""
    return sorted(str(place) for place in found if not _within(place, found - {place}))


def _named(argv: Iterable[str], folder: Path) -> Iterable[Path]:
    """The folders of the files that a command in this folder names, including its program."""
    for at, word in enumerate(argv):
        place = folder / ((shutil.which(word) if at == 0 else None) or word)
        if "/" in word and place.exists():
            yield place.resolve() if place.is_dir() else place.resolve().parent
            yield place.absolute() if place.is_dir() else place.absolute().parent
        elif at == 0 and place.exists():
            yield place.resolve().parent


def _within(place: Path, others: Iterable[Path]) -> bool:
    return any(place.is_relative_to(other) for other in others)


def _hidden(cup: Path, folder: Path | None, needed: set[Path]) -> list[str]:
    """The options that cover cups and runs in folders that bots see."""
    folders: set[Path] = set()
    files = {place for place in (cup.absolute(), cup.resolve()) if _within(place, needed)}
    if folder is not None:
        for place in (folder.absolute(), folder.resolve()):
            if _within(place, needed):
                folders.add(_run_folder(place, needed))
    for root in map(Path, _outermost(needed)):
        if root not in (Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()):
            _find(root, needed, folders, files)
    words = []
    for place in sorted(folders):
        if not _within(place, folders - {place}):
            words += ["--tmpfs", str(place)]
    for place in sorted(files):
        if not _within(place, folders):
            words += ["--ro-bind", os.devnull, str(place)]
    return words


def _run_folder(folder: Path, needed: set[Path]) -> Path:
    """The folder to cover for a run: that of all runs if it lies there and no bot needs it."""
    parent = folder.parent
    if parent.name == _RUNS and not any(place.is_relative_to(parent) for place in needed):
        return parent
    return folder


def _find(root: Path, needed: set[Path], folders: set[Path], files: set[Path]) -> None:
    """Add the cups and runs below a folder, near ones first; links are not followed."""
    waiting = deque([(root, 0)])
    for _ in range(_MAX_FOLDERS):
        if not waiting:
            return
        place, depth = waiting.popleft()
        try:
            with os.scandir(place) as entries:
                here = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        plain = [entry.name for entry in here if entry.is_file(follow_symlinks=False)]
        if FILE in plain:
            if not any(other.is_relative_to(place) for other in needed):
                folders.add(_run_folder(place, needed))
                continue
            # A bot's own folder cannot be covered, so only the store in it is. Its log and lock
            # come and go, and bubblewrap fails if a covered file is gone.
            files.add(place / FILE)
        files.update(place / n for n in plain if n.endswith(".toml") and _is_cup(place / n))
        if depth < HIDDEN_DEPTH and place not in folders:
            waiting.extend(
                (place / entry.name, depth + 1)
                for entry in here
                if entry.is_dir(follow_symlinks=False) and entry.name not in _SKIPPED
            )


def _is_cup(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return b"[[bots]]" in file.read(LARGEST)
    except OSError:
        return False
