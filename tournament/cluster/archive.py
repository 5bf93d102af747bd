"""Archives of bots' folders, which are sent to the workers."""

import hashlib
import io
import os
import zipfile
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from pathlib import Path

from tournament.bot.url_bot import StartError
from tournament.config.cup import Bot, Cup

LARGEST = 64 << 20
"""The most bytes that the files of an archive may have together."""

_LEFT_OUT = {"__pycache__", ".git", "runs"}


class ArchiveError(StartError):
    """Raised if a bot's folder cannot be sent, or its archive was damaged. The message says why."""


def pack_all(cup: Cup, folder: Path, secret: Iterable[Path]) -> tuple[Cup, dict[str, bytes]]:
    """Pack the folder of each bot that has a `dir`, without the paths in `secret`. See `pack`.

    A relative `dir` is resolved against `folder`. Return a copy of the cup in which each `dir` is
    the SHA-256 of the bot's archive in hexadecimal, and the archives, keyed by SHA-256.

    Raises:
        ArchiveError: if a folder cannot be sent (see `pack`).
    """
    archives, bots = {}, []
    hidden = {path.resolve() for path in secret}
    for bot in cup.bots:
        if bot.dir is not None:
            archive = pack(bot, folder / bot.dir, hidden)
            digest = hashlib.sha256(archive).hexdigest()
            archives[digest] = archive
            bot = replace(bot, dir=digest)
        bots.append(bot)
    return replace(cup, bots=tuple(bots)), archives


def pack(bot: Bot, folder: Path, hidden: Set[Path] = frozenset()) -> bytes:
    """Return a bot's `folder` as a zip archive, with links replaced by the files they lead to.

    The paths in `hidden`, which must be absolute and resolved, are left out. So is anything that is
    named `.git`, `runs` or `__pycache__`, or is neither a file nor a folder, such as a socket.

    Raises:
        ArchiveError: if a file or a subfolder cannot be read, the files exceed LARGEST bytes
            together, folders are nested too deeply, a name is not UTF-8, or a link does not lead to
            a packed file.
    """
    root, output, size = folder.resolve(), io.BytesIO(), 0

    def refuse(why: str, fix: str) -> ArchiveError:
        return ArchiveError(f"{bot.name}: its folder {bot.dir} has {why}; {fix}.")

    try:
        with zipfile.ZipFile(output, "w", strict_timestamps=False) as archive:
            for path in _contents(root, root, hidden):
                name, is_file = path.relative_to(root), path.is_file()
                if path.is_symlink() and not (is_file and _travels(path.resolve(), root, hidden)):
                    why = f"a link, {name}, that leads to no file in it that can be sent"
                    raise refuse(why, "put a copy in its place, or delete it")
                size += path.stat().st_size if is_file else 0
                if size > LARGEST:
                    why = (
                        f"more than {LARGEST >> 20} MiB, too many to send to workers (with {name})"
                    )
                    raise refuse(why, "move what it does not need out of it")
                if is_file or path.is_dir():
                    archive.write(path, name)
    except UnicodeEncodeError as error:
        why = f"a file with a name that is not UTF-8, {error.object!a}"
        raise refuse(why, "rename it") from None
    except RecursionError:
        raise refuse("too many folders within each other", "delete them") from None
    except OSError as error:
        place = error.filename or folder
        why = f"{place}, which cannot be read ({error.strerror})"
        raise refuse(why, "make it readable, or fix its dir") from None
    return output.getvalue()


def _contents(folder: Path, root: Path, hidden: Set[Path]) -> Iterator[Path]:
    """Yield the paths below `folder` that may be packed, each folder before its contents. `root` is
    the bot's folder. `hidden` is as in `pack`. Links are yielded, but not followed.

    Raises:
        OSError: if a folder cannot be read.
        RecursionError: if folders are nested too deeply.
    """
    for path in sorted(folder.iterdir()):
        if _travels(path, root, hidden):
            yield path
            if path.is_dir() and not path.is_symlink():
                yield from _contents(path, root, hidden)


def _travels(path: Path, root: Path, hidden: Set[Path]) -> bool:
    return (
        path.is_relative_to(root)
        and _LEFT_OUT.isdisjoint(path.relative_to(root).parts)
        and hidden.isdisjoint((path, *path.parents))
    )


def unpack(data: bytes, digest: str, folder: Path) -> None:
    """Create `folder`, unpack an archive into it, and make the folder and its contents read-only.

    Raises:
        ArchiveError: if the SHA-256 of the archive is not `digest`.
        OSError: if the folder exists already or cannot be written.
    """
    if hashlib.sha256(data).hexdigest() != digest:
        raise ArchiveError("The archive of a bot was damaged on its way.")
    folder.mkdir(0o700)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            path = archive.extract(info, folder)  # writes nowhere else, and makes no links
            if not info.is_dir():
                os.chmod(path, info.external_attr >> 16 & 0o555)
    for place, _, _ in os.walk(folder):
        os.chmod(place, 0o500)
