"""The starter kits: the catalogue, what each kit needs, and how to copy one.

`kits.toml` is the catalogue; the files of a kit are in the folder of its name. Uses only the
standard library: tests/install-system-packages.sh reads it before anything is installed.
"""

import glob
import shlex
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any


class KitError(Exception):
    """A kit cannot be found or copied; the message is for the user."""


@dataclass(frozen=True, slots=True)
class Kit:
    """One starter kit.

    `sources` maps the names in a copy to paths below `bots/`; `build` are shell commands to run
    inside the copy, `run` starts the bot from any directory. `needs` has each Debian package of the
    toolchain with a program or the path of a file (a pattern) that it brings. An adapter is put in
    front of a `program`, of which this is an example. The author of one `by_url` keeps it running.
    """

    language: str
    sources: Mapping[str, str]
    title: str
    decision: str
    run: str
    aliases: Sequence[str] = ()
    build: Sequence[str] = ()
    needs: Mapping[str, str] = field(default_factory=dict)
    program: str | None = None
    by_url: bool = False

    def missing(self) -> tuple[str, ...]:
        """The Debian packages that this machine does not have."""
        return tuple(
            package
            for package, brings in self.needs.items()
            if not (glob.glob(brings) if brings.startswith("/") else shutil.which(brings))
        )

    def command(self, directory: Path | str) -> str:
        """The shell command that starts the copy in this directory."""
        return self.run.format(dir=shlex.quote(str(directory)))

    def copy(self, target: Path, program: Sequence[str] = ()) -> list[str]:
        """Copy the kit into a new or empty directory; return the names of the files.

        An adapter starts `program`, words of a command, in the current directory. Raises KitError
        if `target` is not empty, is a file or cannot be written, and if there is a program too many
        or too few.
        """
        if self.program is None and program:
            raise KitError(f"The kit {self.language} takes no program; leave out what follows --.")
        if self.program is not None and not program:
            example = f"stich new-bot {self.language} -- {self.program}"
            raise KitError(f"Name the program after --, as in `{example}`.")
        try:
            target.mkdir(parents=True, exist_ok=True)
            if any(target.iterdir()):
                raise KitError(f"{target} is not empty; name a directory that is new or empty.")
            for name, source in self.sources.items():
                path = target / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(files("bots").joinpath(*source.split("/")).read_bytes())
            if program:
                bot = target / self.decision
                text = bot.read_text("utf-8").replace(f'["{self.program}"]', repr([*program]))
                bot.write_text(
                    text.replace('FOLDER = "."', f"FOLDER = {str(Path.cwd())!r}"), "utf-8"
                )
        except (FileExistsError, NotADirectoryError):
            raise KitError(f"{target} is a file; name a directory that is new or empty.") from None
        except OSError as error:
            reason = error.strerror or str(error)
            raise KitError(f"Cannot write to {target}: {reason}.") from error
        return list(self.sources)


def _pages() -> list[str]:
    """The pages that every copy has, as paths below `docs/`; here they are links to `docs/`."""
    root = files("bots").joinpath("kits", "docs")
    rules = [f"rules/{page.name}" for page in root.joinpath("rules").iterdir()]
    return [*(page.name for page in root.iterdir() if page.is_file()), *rules]


def _kit(language: str, files: Sequence[str], shared: Sequence[str] = (), **data: Any) -> Kit:
    sources = {name: f"kits/{language}/{name}" for name in files}
    sources |= {f"docs/{page}": f"kits/docs/{page}" for page in sorted(_pages())}
    sources |= {Path(path).name: path for path in shared}
    return Kit(language, sources, **data)


def catalogue() -> dict[str, Kit]:
    """All kits by language, in the order of the list."""
    text = files("bots").joinpath("kits", "kits.toml").read_text(encoding="utf-8")
    return {language: _kit(language, **data) for language, data in tomllib.loads(text).items()}


def find(name: str) -> Kit:
    """The kit of this language or alias, ignoring case; raises KitError if there is none."""
    kits = catalogue()
    for kit in kits.values():
        if name.lower() in (kit.language, *kit.aliases):
            return kit
    raise KitError(
        f"There is no starter kit for {name!r}; there are {', '.join(kits)}. With "
        "stdio a bot in any language reads and writes lines."
    )
