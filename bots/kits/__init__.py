"""The starter kits in other languages: what there is, what each needs, and how one is copied.

`kits.toml` beside this file is the catalogue; each kit's files stand in the folder of its name.
Standard library only, so that `install-toolchains.sh` can ask before anything is installed.
"""

from __future__ import annotations

import glob
import shlex
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any


class KitError(Exception):
    """A kit that cannot be copied; the text is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class Need:
    """One thing a kit's toolchain must have: a program or a file, and its Debian package."""

    package: str
    program: str | None
    file: str | None

    def met(self) -> bool:
        """Whether this machine has it."""
        if self.program is not None:
            return shutil.which(self.program) is not None
        return self.file is not None and bool(glob.glob(self.file))


@dataclass(frozen=True, slots=True)
class Kit:
    """One starter kit.

    `files` and `shared` map the names in a copy to paths below `bots/`; `build` are shell
    commands to be run inside the copy, `run` starts the bot from anywhere.
    """

    language: str
    title: str
    aliases: tuple[str, ...]
    decision: str
    sources: Mapping[str, str]
    build: tuple[str, ...]
    run: str
    needs: tuple[Need, ...]

    @property
    def packages(self) -> tuple[str, ...]:
        """The Debian packages that bring the toolchain."""
        return tuple(need.package for need in self.needs)

    def missing(self) -> tuple[str, ...]:
        """The Debian packages of what this machine lacks."""
        return tuple(need.package for need in self.needs if not need.met())

    def command(self, directory: Path | str) -> str:
        """The shell command that starts the copy in this directory."""
        return self.run.format(dir=shlex.quote(str(directory)))

    def copy(self, target: Path) -> list[str]:
        """Copy the kit into a new or empty directory and name the files written.

        KitError if there is something at `target` already, or it cannot be written.
        """
        try:
            target.mkdir(parents=True, exist_ok=True)
            if any(target.iterdir()):
                raise KitError(f"{target} is not empty; name a directory that is new or empty.")
            for name, source in self.sources.items():
                path = target / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(_room().joinpath(*source.split("/")).read_bytes())
        except (FileExistsError, NotADirectoryError):
            raise KitError(f"{target} is a file; name a directory that is new or empty.") from None
        except OSError as error:
            reason = error.strerror or str(error)
            raise KitError(f"Cannot write to {target}: {reason}.") from error
        return list(self.sources)


def _room() -> Traversable:
    return files("bots")


def _need(data: Mapping[str, str]) -> Need:
    return Need(data["package"], data.get("program"), data.get("file"))


def _kit(language: str, data: Mapping[str, Any]) -> Kit:
    sources = {name: f"kits/{language}/{name}" for name in data["files"]}
    sources |= {entry["to"]: entry["from"] for entry in data["shared"]}
    return Kit(
        language=language,
        title=data["title"],
        aliases=tuple(data["aliases"]),
        decision=data["decision"],
        sources=sources,
        build=tuple(data["build"]),
        run=data["run"],
        needs=tuple(_need(need) for need in data["needs"]),
    )


def catalogue() -> dict[str, Kit]:
    """All kits by language, in the order in which they are listed."""
    text = _room().joinpath("kits", "kits.toml").read_text(encoding="utf-8")
    return {language: _kit(language, data) for language, data in tomllib.loads(text).items()}


def find(name: str) -> Kit:
    """The kit of this language or alias, in any case of letters; KitError names those there are."""
    kits = catalogue()
    for kit in kits.values():
        if name.lower() in (kit.language, *kit.aliases):
            return kit
    raise KitError(f"There is no starter kit for {name!r}; there are {', '.join(kits)}.")
