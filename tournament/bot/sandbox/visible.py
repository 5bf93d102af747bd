"""What a bot in a sandbox sees of the disk besides the system: its own files and its program,
without what tells a seed and without other bots' files."""

from __future__ import annotations

import os
import re
import shlex
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from tempfile import gettempdir

from tournament.bot.environment import CHECKOUT, find_program
from tournament.config import Bot
from tournament.config.cup import REFERENCE_BOTS, reference_command
from tournament.config.parse import LARGEST
from tournament.paths import STORE_FILE

SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt")))
"""Folders of the system, which every bot sees."""

HIDDEN_DEPTH = 5
"""How deep in a bot's folder cups, runs and repositories are looked for."""

_MAX_FOLDERS = 20_000
_SKIPPED = (".venv", "__pycache__", "node_modules")
_RUNS = "runs"
_REFERENCE_COMMANDS = tuple(map(reference_command, REFERENCE_BOTS))
_SEPARATORS = re.compile(r"[\s=:;,]+")
_LISTS = re.compile(r"[=:;,]+")  # of paths, which may have spaces
_PACKAGES = ("bots", "games", "*__mypyc*.so")


@dataclass(frozen=True)
class Command:
    """The command of a bot: `words`, the folder in which it runs, the values of its variables.
    `dir` says whether the bot has this folder for itself."""

    words: tuple[str, ...]
    folder: Path
    values: tuple[str, ...] = ()
    dir: bool = False
    author: str | None = None

    @classmethod
    def of(cls, bot: Bot, folder: Path) -> Command:
        """The command of a bot whose relative paths start from `folder`."""
        words = tuple(shlex.split(str(bot.command)))
        inside = Path(os.path.normpath(folder / (bot.dir or "")))
        return cls(words, inside, tuple(bot.env.values()), bot.dir is not None, bot.author)

    @cached_property
    def visible(self) -> set[Path]:
        """All files and folders outside of the system's that the bot sees."""
        return {place for place in self.own | self.tools if not is_within(place, SYSTEM)}

    @cached_property
    def own(self) -> set[Path]:
        """The folders of the files that it names, the folders that it names, and its `dir`; the
        folder in which it runs if there are none. Only the file itself where its folder holds far
        more than a bot."""
        if not self.dir and " ".join(self.words) in _REFERENCE_COMMANDS:
            return set()
        found: set[Path] = set()
        places = self.named | ({self.folder, self.folder.resolve()} if self.dir else set())
        for place in places or {self.folder, self.folder.resolve()}:
            folder = place if place.is_dir() else place.parent
            if not _is_wide(folder):
                found.add(folder)
            elif place != folder:
                found.add(place)
        return found

    @cached_property
    def named(self) -> set[Path]:
        """The files and folders of its author that it names: by words or values, by parts of them
        (as in `-cp build:lib` and `sh -c "exec ./bot"`), or as the module after `-m`."""
        first, *more = self.words
        whole = [*more, *self.values, *([first] if "/" in first else [])]
        words = set(whole)
        for separators in (_SEPARATORS, _LISTS):
            words.update(part for word in whole for part in separators.split(word))
        words.discard("")
        for option, module in pairwise(self.words):
            if option == "-m":
                words |= {module.partition(".")[0], f"{module.replace('.', '/')}.py"}
        places = {Path(os.path.normpath(self.folder / word)) for word in words}
        places |= {place.resolve() for place in places}
        return {
            place
            for place in places
            if place.exists() and not is_within(place, SYSTEM) and not _installation(place)
        }

    @cached_property
    def tools(self) -> set[Path]:
        """What its programs need, and what this project offers to bots in Python."""
        words = (part for word in (*self.words, *self.values) for part in _SEPARATORS.split(word))
        programs = {self.folder / word for word in words if "/" in word}
        if found := find_program(self.words, self.folder):
            programs.add(Path(found))
        places = {place for program in programs for place in _installation(program)}
        return places.union(place for name in _PACKAGES for place in CHECKOUT.glob(name))


def covers(
    command: Command, others: Iterable[Command], secret: Iterable[Path]
) -> tuple[set[Path], set[Path]]:
    """The folders and the files to cover in what a bot sees: `secret` ones, repositories, cups and
    runs, and what belongs to bots of other authors."""
    mine = command.own | command.named
    telling = {place for root in command.own for place in _telling(root)}
    telling |= {place for path in secret for place in (path.absolute(), path.resolve())}
    theirs: set[Path] = set()
    for other in others:
        if command.author is None or command.author != other.author:
            theirs |= {place for place in other.own | other.named if place not in mine}
    folders, files = set(), set()
    for place in telling | {place for place in theirs if not is_within(place, command.tools)}:
        needed = any(path.is_relative_to(place) for path in mine)
        if not is_within(place, command.visible):
            continue
        if not place.is_dir():
            if place.exists():
                files.add(place)
        elif not needed:
            folders.add(_all_runs(place, mine))
        elif (place / STORE_FILE).is_file():
            # A bot's own folder cannot be covered, so only the store in it is. Its log and lock
            # come and go, and bubblewrap fails if a covered file is gone.
            files.add(place / STORE_FILE)
    outer = set(outermost(folders))
    return outer, {place for place in files if not is_within(place, outer)}


def outermost(places: set[Path]) -> list[Path]:
    """The outermost of these files and folders."""
    return sorted(place for place in places if not is_within(place.parent, places))


def is_within(place: Path, others: Iterable[Path]) -> bool:
    """Whether a place is one of the others, or below one."""
    return any(place.is_relative_to(other) for other in others)


def _installation(program: str | Path) -> set[Path]:
    """The folders of installed software around a program: `X` for `X/bin/program`, at each step of
    a chain of links. Empty if it is not installed in this way."""
    place, found = Path(program).absolute(), set()
    for _ in range(10):
        if place.parent.name in ("bin", "shims") and place.is_file():
            found |= _prefix(place.parent)
        if not place.is_symlink():
            break
        place = Path(os.path.normpath(place.parent / place.readlink()))
    return found


def _prefix(bin_folder: Path) -> set[Path]:
    """The folders of an installation. Of folders in which much more is kept, such as ~/.local, only
    programs and libraries."""
    prefix, settings = bin_folder.parent, bin_folder.parent / "pyvenv.cfg"
    found = {prefix}
    if bin_folder.name == "bin" and prefix.parent == _home() and not settings.is_file():
        found = {bin_folder, *prefix.glob("lib*")}
    elif _is_wide(prefix):
        found = {bin_folder}
    if settings.is_file():  # of a virtual environment made of copies, not of links
        for line in settings.read_text("utf-8", "replace").splitlines():
            key, _, value = line.partition("=")
            if key.strip() == "home":
                found.add(Path(value.strip()).resolve().parent)
    return found


def _is_wide(folder: Path) -> bool:
    """Whether a folder holds far more than a bot: the home, what contains it, the folder of all
    temporary files."""
    home = _home()
    return (home is not None and home.is_relative_to(folder)) or folder == Path(gettempdir())


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # a user whom the system does not know, as in some containers
        return None


def _all_runs(folder: Path, mine: set[Path]) -> Path:
    """The folder to cover for a run: that of all runs if it lies there and the bot does not."""
    runs = folder.parent
    is_run = runs.name == _RUNS and (folder / STORE_FILE).exists()
    return runs if is_run and not any(place.is_relative_to(runs) for place in mine) else folder


@lru_cache(64)
def _telling(root: Path) -> tuple[Path, ...]:
    """The repositories, cups and runs below a folder, near ones first; links are not followed."""
    found = []
    waiting = deque([(root, 0)])
    for _ in range(_MAX_FOLDERS):
        if not waiting:
            break
        place, depth = waiting.popleft()
        if depth > HIDDEN_DEPTH:
            break
        try:
            with os.scandir(place) as entries:
                here = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in here:
            path = place / entry.name
            if entry.name == ".git" or (entry.name.endswith(".toml") and _is_cup(path)):
                found.append(path)
            elif entry.name == STORE_FILE:
                found.append(place)
            elif entry.is_dir(follow_symlinks=False) and entry.name not in _SKIPPED:
                waiting.append((path, depth + 1))
    return tuple(found)


def _is_cup(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return b"[[bots]]" in file.read(LARGEST)
    except OSError:
        return False
