"""The folder of a bot as an archive that travels to the workers."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tournament.bot.sandbox.visible import Command, covers, is_within
from tournament.bot.started_bot import StartError
from tournament.config import Bot

LARGEST = 64 << 20
"""Bytes of an archive."""

_SKIPPED = "__pycache__"
_MB = 1 << 20


class ArchiveError(StartError):
    """A folder that cannot travel; the text is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Archives:
    """Archives by their SHA-256, and for each bot that has a folder the SHA-256 of its own."""

    data: Mapping[str, bytes] = field(default_factory=dict)
    of_bots: Mapping[str, str] = field(default_factory=dict)


def pack_all(bots: Iterable[Bot], folder: Path, secret: Iterable[Path]) -> Archives:
    """The folders of all bots that are started; relative paths start from `folder`.

    What a sandbox would hide from a bot stays here: what is `secret`, repositories, cups and runs,
    and what belongs to bots of other authors. ArchiveError if a folder cannot travel, or a bot
    needs files and names no folder.
    """
    started = [bot for bot in bots if bot.command is not None]
    commands = {bot.name: Command.of(bot, folder) for bot in started}
    hidden = list(secret)
    data, of_bots = {}, {}
    for bot in started:
        command = commands[bot.name]
        if bot.dir is None:
            _check_needs_nothing(bot, command)
            continue
        others = [other for name, other in commands.items() if name != bot.name]
        archive = pack(bot, command.folder, set().union(*covers(command, others, hidden)))
        digest = hashlib.sha256(archive).hexdigest()
        data[digest] = archive
        of_bots[bot.name] = digest
    return Archives(data, of_bots)


def _check_needs_nothing(bot: Bot, command: Command) -> None:
    """Refuse a bot without a folder that names files of this machine by relative paths. Absolute
    ones may be on all machines."""
    if " ".join(command.words[1:]).startswith("-m bots."):
        return  # Stich's own, which every worker has
    near = {place for place in command.named if place.is_relative_to(command.folder)}
    needed = sorted(
        place
        for place in near - {command.folder}
        if str(place) not in str(bot.command) and not is_within(place, command.tools)
    )
    if needed:
        raise ArchiveError(
            f'{bot.name}: "{bot.command}" names {needed[0].relative_to(command.folder)}, which the'
            " workers do not have; write the folder of the bot as its dir, and start the paths in"
            " its command from there."
        )


def pack(bot: Bot, folder: Path, hidden: Iterable[Path] = ()) -> bytes:
    """A tar archive of a folder, the same for the same files, without those that are hidden."""
    covered = frozenset(hidden)
    size = 0
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        try:
            for path in _walk(folder, covered):
                info = _info(bot, path, folder)
                size += info.size + tarfile.BLOCKSIZE
                if size > LARGEST:
                    raise ArchiveError(
                        f"{bot.name}: its folder {bot.dir} has more than {LARGEST // _MB} MiB, too"
                        f" many to send to workers (with {info.name}, {info.size / _MB:.1f} MiB);"
                        " move what it does not need out of it."
                    )
                if info.isreg():
                    with path.open("rb") as file:
                        archive.addfile(info, file)
                else:
                    archive.addfile(info)
        except OSError as error:
            place = error.filename or folder
            raise ArchiveError(
                f"{bot.name}: {place} cannot be read ({error.strerror}); fix its dir."
            ) from None
    return out.getvalue()


def _walk(folder: Path, hidden: frozenset[Path]) -> Iterator[Path]:
    """What is in a folder, however deep, in order."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        path = Path(entry.path)
        if entry.name == _SKIPPED or path in hidden:
            continue
        yield path
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(path, hidden)


def _info(bot: Bot, path: Path, folder: Path) -> tarfile.TarInfo:
    """What an archive says of a file; times and owners are left out."""
    info = tarfile.TarInfo(str(path.relative_to(folder)))
    status = path.lstat()
    info.mode = stat.S_IMODE(status.st_mode) & 0o555 | 0o400
    if path.is_symlink():
        info.type, info.linkname = tarfile.SYMTYPE, str(path.readlink())
        if path.readlink().is_absolute() or not path.resolve().is_relative_to(folder.resolve()):
            raise ArchiveError(
                f"{bot.name}: {info.name} in its folder {bot.dir} is a link to {info.linkname},"
                " which is no relative path inside; put a copy in its place, or delete it."
            )
    elif path.is_dir():
        info.type, info.mode = tarfile.DIRTYPE, 0o755
    elif path.is_file():
        info.size = status.st_size
    else:
        raise ArchiveError(
            f"{bot.name}: {info.name} in its folder {bot.dir} is no file, folder or link; delete"
            " it."
        )
    return info


def unpack(data: bytes, digest: str, folder: Path) -> None:
    """Unpack an archive into a new folder, which is then read-only. ArchiveError if the archive
    is not the one with this SHA-256, or would write elsewhere; OSError."""
    if hashlib.sha256(data).hexdigest() != digest:
        raise ArchiveError("The archive of a bot has changed on its way.")
    folder.mkdir(0o700)
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            # Nothing is written outside the folder; Python 3.11 before 3.11.4 has no filters.
            archive.extraction_filter = getattr(tarfile, "data_filter", None)
            archive.extractall(folder)  # noqa: S202 - the filter refuses them
    except tarfile.TarError as error:
        raise ArchiveError(f"The archive of a bot cannot be unpacked: {error}.") from None
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & 0o555)
    folder.chmod(0o500)
