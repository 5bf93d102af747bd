"""The folder of a bot as an archive that travels to the workers."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import stat
import tarfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tournament.bot.url_bot import StartError
from tournament.config import Bot

LARGEST = 64 << 20
"""Bytes of an archive."""

_LEFT_OUT = {"__pycache__", ".git", "runs"}
_DEEPEST = 100  # folders within each other


class ArchiveError(StartError):
    """A folder that cannot travel; the text is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Archives:
    """Archives by their SHA-256, and for each bot that has a folder the SHA-256 of its own."""

    data: Mapping[str, bytes]
    of_bots: Mapping[str, str]


def pack_all(bots: Iterable[Bot], folder: Path, secret: Collection[Path]) -> Archives:
    """The folders of all bots that have one; relative paths start from `folder`. What is `secret`
    stays here, as do repositories and runs. ArchiveError if a folder cannot travel."""
    data, of_bots = {}, {}
    hidden = {path.resolve() for path in secret}
    for bot in bots:
        if bot.dir is not None:
            archive = pack(bot, folder / bot.dir, hidden)
            digest = hashlib.sha256(archive).hexdigest()
            data[digest] = archive
            of_bots[bot.name] = digest
    return Archives(data, of_bots)


def pack(bot: Bot, folder: Path, hidden: Collection[Path] = ()) -> bytes:
    """A tar archive of a folder, the same for the same files; ArchiveError."""
    size = 0
    out = io.BytesIO()
    try:
        with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for path in _walk(folder.resolve(), hidden):
                info = _info(bot, path, folder.resolve())
                size += info.size + tarfile.BLOCKSIZE
                if size > LARGEST:
                    raise ArchiveError(
                        f"{bot.name}: its folder {bot.dir} has more than {LARGEST >> 20} MiB, too"
                        f" many to send to workers (with {info.name}, {info.size / 2**20:.1f} MiB);"
                        " move what it does not need out of it."
                    )
                with path.open("rb") if info.isreg() else io.BytesIO() as file:
                    archive.addfile(info, file)
    except OSError as error:
        place = error.filename or folder
        raise ArchiveError(
            f"{bot.name}: {place} cannot be read ({error.strerror}); fix its dir."
        ) from None
    return out.getvalue()


def _walk(folder: Path, hidden: Collection[Path]) -> Iterator[Path]:
    """What is in a folder, however deep, in order."""
    for path in sorted(folder.iterdir()):
        if path.name not in _LEFT_OUT and path not in hidden:
            yield path
            if path.is_dir() and not path.is_symlink():
                yield from _walk(path, hidden)


def _info(bot: Bot, path: Path, folder: Path) -> tarfile.TarInfo:
    """What an archive says of a file; times and owners are left out."""
    info = tarfile.TarInfo(str(path.relative_to(folder)))
    if info.name.count("/") >= _DEEPEST:
        raise ArchiveError(
            f"{bot.name}: its folder {bot.dir} has more than {_DEEPEST} folders within each other;"
            " delete them."
        )
    status = path.lstat()
    info.mode = stat.S_IMODE(status.st_mode) & 0o555 | 0o400
    if path.is_symlink():
        info.type, info.linkname = tarfile.SYMTYPE, str(path.readlink())
        if path.readlink().is_absolute() or not _leads_inside(path, folder):
            raise ArchiveError(
                f"{bot.name}: {info.name} in its folder {bot.dir} is a link to {info.linkname},"
                " which is no relative path inside; put a copy in its place, or delete it."
            )
    elif path.is_dir():
        info.type = tarfile.DIRTYPE
    elif path.is_file():
        info.size = status.st_size
    else:
        raise ArchiveError(
            f"{bot.name}: {info.name} in its folder {bot.dir} is no file, folder or link; delete"
            " it."
        )
    return info


def _leads_inside(link: Path, folder: Path) -> bool:
    try:
        return link.resolve().is_relative_to(folder)
    except (OSError, RuntimeError):  # a loop
        return False


def unpack(data: bytes, digest: str, folder: Path) -> None:
    """Unpack an archive into a new folder, which is then read-only. ArchiveError if the archive
    is not the one with this SHA-256, or would write or lead elsewhere; OSError."""
    if hashlib.sha256(data).hexdigest() != digest:
        raise ArchiveError("The archive of a bot has changed on its way.")
    folder.mkdir(0o700)
    # By hand: the filters of tarfile have holes in some versions of Python 3.11 and 3.12.
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        members = archive.getmembers()
        links = [member for member in members if member.issym()]
        for member in members:
            place = PurePosixPath(member.name)
            if place.is_absolute() or ".." in place.parts:
                raise ArchiveError(f"The archive of a bot would write to {place}.")
            if member.isdir():
                (folder / place).mkdir()
            elif (file := archive.extractfile(member) if member.isreg() else None) is not None:
                with (folder / place).open("xb") as copy:
                    shutil.copyfileobj(file, copy)
                os.chmod(copy.name, member.mode & 0o555)
    # Links come last, so that no file is written through one. Several may lead outside together.
    for link in links:
        if _leads_inside(folder / link.name, folder.resolve()):
            (folder / link.name).symlink_to(link.linkname)
    for link in links:
        if not _leads_inside(folder / link.name, folder.resolve()):
            raise ArchiveError(f"The archive of a bot has a link to {link.linkname}.")
    for place_, _, _ in os.walk(folder):
        os.chmod(place_, 0o500)
