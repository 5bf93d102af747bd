"""Copies of a bot's folder, one for each process. The time to read a page of a file tells whether
another process has read it, so in a common folder one seating could tell another its cards."""

import os
import select
import subprocess
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import IO, Final, TypedDict, cast

LIMIT_MB: Final = 512
"""The size in MiB of the largest folder that is copied."""

_BLOCK: Final = 4096  # the bytes that the smallest file takes
_PATHS_PER_COMMAND: Final = 200
_CP: Final = ("cp", "-R", "-P", "--preserve=mode,timestamps,links", "--reflink=auto")


class FolderToCopy(TypedDict):
    """A bot's folder, and the paths in it that a copy leaves out. All paths are absolute."""

    folder: str
    left_out: list[str]


def is_too_large(source: FolderToCopy) -> bool:
    """Return whether a copy of the folder would take up more than LIMIT_MB in blocks of 4 KiB.
    The contents of folders that cannot be read do not count."""
    left, folders = LIMIT_MB << 20, [source["folder"]]
    while folders and left >= 0:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.path not in source["left_out"]:
                    size = entry.stat(follow_symlinks=False).st_size
                    left -= -(-max(size, 1) // _BLOCK) * _BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
    return left < 0


def copies_folder() -> str:
    """Return the folder for copies: TMPDIR, or else /var/tmp, which is rarely kept in memory."""
    return os.environ.get("TMPDIR") or "/var/tmp"  # noqa: S108 - a new folder in it


def copy_folder(source: FolderToCopy, target: str, stop: int) -> None:
    """Create the folder `target`, a path in `copies_folder`, and copy a folder's contents to it.
    Symbolic links are copied as links. `stop` is the descriptor of a socket. Stop copying if the
    other end of the socket closes.

    Raises:
        OSError: if `target` exists, the folder cannot be copied, or the copying is stopped. Part of
            the folder may then have been copied.
    """
    os.mkdir(target, 0o700)
    left_out = [*source["left_out"], os.path.realpath(copies_folder())]
    for command in _commands(source["folder"], left_out, target):
        _run(command, stop)


def remove_copy(target: str) -> None:
    """Remove a copy, even if folders in it are not writable. Errors are ignored."""
    for command in (["chmod", "-R", "u+rwX", target], ["rm", "-rf", target]):
        with suppress(OSError):
            subprocess.run(command, stderr=subprocess.DEVNULL, check=False)  # noqa: S603


def _commands(folder: str, left_out: Collection[str], target: str) -> Iterator[list[str]]:
    """Yield commands that copy a folder's contents to `target`, except the paths in `left_out`. If
    a subfolder contains a path in `left_out`, create the subfolder in `target`, and yield commands
    for its other contents. Raise OSError if a folder cannot be read or created."""
    whole: list[str] = []
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if path in left_out:
            continue
        if any(other.startswith(f"{path}/") for other in left_out):
            os.mkdir(os.path.join(target, name))
            yield from _commands(path, left_out, os.path.join(target, name))
        else:
            whole.append(path)
    for start in range(0, len(whole), _PATHS_PER_COMMAND):
        paths = whole[start : start + _PATHS_PER_COMMAND]
        yield [*_CP, "--target-directory", target, "--", *paths]


def _run(command: list[str], stop: int) -> None:
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:  # noqa: S603 - cp
        errors = cast(IO[bytes], process.stderr).fileno()
        poll = select.poll()
        poll.register(errors, select.POLLIN)
        poll.register(stop, 0)  # a closed socket is reported all the same
        error_output = b""
        while True:
            if any(descriptor == stop for descriptor, _ in poll.poll()):
                process.kill()
                raise InterruptedError("the runner has ended")
            if not (piece := os.read(errors, _BLOCK)):
                break
            error_output = (error_output + piece)[-_BLOCK:]
    if process.returncode:
        lines = error_output.decode("utf-8", "backslashreplace").strip().splitlines()
        raise OSError((lines or ["cp failed"])[-1])
