"""The starter kits: the catalogue `kits.toml`, and a folder of files for each kit.

The module uses only the standard library, for tests/install-system-packages.sh.
"""

import glob
import shlex
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_KITS = Path(__file__).parent
_PROGRAM_FOLDER = "program"  # in a copy, for the files of the program behind an adapter


class KitError(Exception):
    """A kit cannot be found or copied. The message is for the user."""


@dataclass(frozen=True, slots=True)
class Kit:
    """A starter kit."""

    language: str
    sources: Mapping[str, str]  # paths below `bots/`, by file name in a copy
    title: str
    decision: str  # the file that authors edit
    run: str  # the command that starts the bot, with `{dir}` for the copy
    aliases: Sequence[str] = ()
    build: Sequence[str] = ()  # shell commands to run inside the copy
    # By Debian package of the toolchain: a program in the package, or a pattern of file paths.
    needs: Mapping[str, str] = field(default_factory=dict)
    program: str | None = None  # an example of the program behind an adapter
    prepare: str | None = None  # to run once, with the Python of the adapter's program
    by_url: bool = False  # the bot's author keeps the bot running

    def missing(self) -> tuple[str, ...]:
        """Return the Debian packages in `needs` whose program or files this machine lacks."""
        return tuple(
            package
            for package, part in self.needs.items()
            if not (glob.glob(part) if part.startswith("/") else shutil.which(part))
        )

    def command(self, directory: Path | str) -> str:
        """Return the shell command that starts the kit's copy in `directory`."""
        return self.run.format(dir=shlex.quote(str(directory)))

    def copy(self, target: Path, program: Sequence[str] = ()) -> list[str]:
        """Copy the kit into a new or empty folder. Return the copies' paths relative to `target`.

        For an adapter, `program` is a command, which is written into the copy of `decision`. Files
        and folders that the command names by a relative path, except symbolic links, are copied
        too. Their copies are returned last.

        Raises:
            KitError: if `target` is not empty, is a file or cannot be written, if `program` is
                missing or not expected, or if the program's files do not exist, cannot be read,
                contain `target` or share a name. Part of the kit may have been copied by then.
        """
        if self.program is None and program:
            raise KitError(f"The kit {self.language} takes no program; leave out what follows --.")
        if self.program is not None and not program:
            example = f"stich new-bot {self.language} -- {self.program}"
            raise KitError(f"Name the program after --, as in `{example}`.")
        copies = _files_of(program)
        try:
            target.mkdir(parents=True, exist_ok=True)
            if any(target.iterdir()):
                raise KitError(f"{target} is not empty; name a directory that is new or empty.")
            for name, source in self.sources.items():
                path = target / name
                path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(_KITS.parent / source, path)
            if program:
                folder = target / _PROGRAM_FOLDER
                folder.mkdir()
                for path in copies.values():
                    copy = shutil.copytree if path.is_dir() else shutil.copy2
                    copy(path, folder / path.name)
                words = [_word(word, copies) for word in program]
                bot = target / self.decision
                text = bot.read_text("utf-8").replace(f'["{self.program}"]', repr(words))
                name = f"NAME = {_name(program, copies)!r}"
                bot.write_text(text.replace('NAME = "their-bot"', name), "utf-8")
        except (FileExistsError, NotADirectoryError):
            raise KitError(f"{target} is a file; name a directory that is new or empty.") from None
        except OSError as error:
            why = f"{error.filename}: {error.strerror}" if error.filename else str(error)
            raise KitError(f"The kit cannot be copied to {target} ({why}).") from error
        copied = [f"{_PROGRAM_FOLDER}/{path.name}" for path in copies.values()]
        return [*self.sources, *copied]


def _files_of(program: Sequence[str]) -> dict[str, Path]:
    """Return the files and folders to copy, keyed by the word of the command that names them.

    Absolute paths and symbolic links are left out. A word like `module:Agent` names the module's
    file or its package's folder.

    Raises:
        KitError: if a relative path with a slash does not exist, a folder would contain the copy,
            or two files have the same name.
    """
    copies = {}
    for word in program:
        package = word.partition(":")[0].partition(".")[0]
        places = [word, f"{package}.py", package] if ":" in word else [word]
        path = next((path for path in map(Path, places) if path.exists()), None)
        if path is not None and path.name in ("", ".."):
            raise KitError(f"{word} contains the new folder; name the program's file instead.")
        if path is not None and not path.is_absolute() and not path.is_symlink():
            copies[word] = path
        elif path is None and "/" in word and not word.startswith("/"):
            raise KitError(f"There is no {word}; write the program as you start it here.")
    names = [path.name for path in {*copies.values()}]
    if len(set(names)) < len(names):
        raise KitError(f"Two files of the program have one name: {', '.join(sorted(names))}.")
    return copies


def _word(word: str, copies: Mapping[str, Path]) -> str:
    """Return a word of the command, changed so that it works in the folder of the copies. `copies`
    is as `_files_of` returns it. A word that names a symbolic link becomes an absolute path."""
    if word not in copies or ":" in word:
        return str(Path(word).absolute()) if Path(word).is_symlink() else word
    return f"./{copies[word].name}" if "/" in word else copies[word].name


def _name(program: Sequence[str], copies: Mapping[str, Path]) -> str:
    """Return a name for the bot: the stem of the last copy that `program` names by its path.

    Without such a copy, it is the agent in a last word like `module:Agent`, or else the file name
    of the command's first word.
    """
    stems = [path.stem for word, path in copies.items() if ":" not in word]
    last = program[-1].rpartition(":")[2] if ":" in program[-1] else Path(program[0]).name
    return stems[-1] if stems else last


def catalogue() -> dict[str, Kit]:
    """Return all kits, keyed by language, in the order of `kits.toml`."""
    names = sorted(str(page.relative_to(_KITS)) for page in (_KITS / "docs").rglob("*.md"))
    pages = {name: f"kits/{name}" for name in names}
    kits = {}
    for language, data in tomllib.loads((_KITS / "kits.toml").read_text("utf-8")).items():
        sources = {name: f"kits/{language}/{name}" for name in data.pop("files")} | pages
        sources |= {Path(path).name: path for path in data.pop("shared", ())}
        kits[language] = Kit(language, sources, **data)
    return kits


def find(name: str) -> Kit:
    """Return the kit with this language or alias. Case does not matter.

    Raises:
        KitError: if there is no such kit.
    """
    kits = catalogue()
    for kit in kits.values():
        if name.lower() in (kit.language, *kit.aliases):
            return kit
    raise KitError(
        f"There is no starter kit for {name!r}; there are {', '.join(kits)}. With "
        "stdio a bot in any language reads and writes lines."
    )
