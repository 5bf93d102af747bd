"""Digests of runs that the user keeps in the state folder: the note about a run of the user's own,
which shows whether its store was changed or replaced meanwhile, and receipts of other runs, which
the published run's chain must contain."""

import json
import os
import re
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from tournament.store.chain import Digest
from tournament.store.engine import StoreError
from tournament.store.signing import read_state, state_path, writing

MOST: Final = 1000  # receipts in a file; when it is full, every second one is deleted
_NOTES: Final = "runs"  # the folders in the state folder
_RECEIPTS: Final = "receipts"
_NOTE_SIZE: Final = 512  # bytes: always the same, so that one call overwrites a note
_READ: Final = 1 << 20  # the most bytes that are read, more than a file of MOST receipts has
_RECEIPT: Final = re.compile(r"([1-9][0-9]{0,17}):([0-9a-fA-F]{64})")


def note(run: str, *known: Digest) -> None:
    """Write the note about the run with the id `run`, replacing any earlier note. `known` lists the
    digests that the store may have from now on: those before and after a commit.

    Raises:
        StoreError: if the note cannot be written, or the user has no home folder.
    """
    path = state_path(_NOTES, run)
    text = json.dumps({"run": run, "digests": known}).ljust(_NOTE_SIZE - 1) + "\n"
    with writing(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.pwrite(descriptor, text.encode("ascii"), 0)
        finally:
            os.close(descriptor)


def noted(run: str) -> list[Digest]:
    """Return the digests in the note about the run with the id `run`, or [] if there is no note.

    Raises:
        StoreError: if the note cannot be read, or the user has no home folder.
    """
    path = state_path(_NOTES, run)
    data = read_state(path)
    try:
        return [] if data is None else [Digest(*pair) for pair in json.loads(data)["digests"]]
    except (ValueError, LookupError, TypeError) as error:
        raise StoreError(f"{path}: cannot be read ({error}); restore it.") from None


def forget(run: str) -> None:
    """Delete the note about the run with the id `run`. If it cannot be deleted, do nothing.

    Raises:
        StoreError: if the user has no home folder.
    """
    with suppress(OSError):
        state_path(_NOTES, run).unlink()


def parse_receipt(text: str) -> Digest:
    """Return the receipt in a text such as "120:9f3c...", which has the number of entries in the
    chain, a colon, and the digest in hexadecimal. White space at both ends is ignored.

    Raises:
        ValueError: if the text is not a receipt.
    """
    match = _RECEIPT.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    return Digest(int(match[1]), match[2].lower())


def read_receipts(path: Path) -> list[Digest]:
    """Return the receipts in a file. Each receipt is the first word of a line.

    Empty lines, and comments, which begin with "#", are skipped. Only the first MiB is read. Return
    an empty list if the file cannot be read, or if any other line does not begin with a receipt.
    """
    try:
        with path.open("rb") as file:
            lines = file.read(_READ).decode("utf-8").splitlines()
        words = [line.split() for line in lines if not line.startswith("#")]
        return [parse_receipt(first) for first, *_ in filter(None, words)]
    except (OSError, ValueError):
        return []


def receipts_path(arena: str, token: str) -> Path:
    """Return the path of the file of one bot's receipts from one arena, in the user's state folder.
    `arena` is the arena's URL, and `token` is the bot's token.

    Raises:
        StoreError: if the user has no home folder.
    """
    return state_path(_RECEIPTS, sha256(f"{arena} {token}".encode()).hexdigest()[:16])


def keep_receipt(path: Path, title: str, receipt: Digest, at: str) -> None:
    """Append a receipt as a line to a file, unless the last receipt in the file is the same.

    `title` names the arena and the bot. `at` is the time at which the receipt was seen (UTC, ISO
    8601). Create the file if there is none. If the file already has MOST receipts, first delete
    every second receipt.

    Raises:
        StoreError: if the file cannot be read or written.
    """
    text = (read_state(path) or b"").decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    line = f"{receipt.entries}:{receipt.digest}"
    if lines and lines[-1].split()[:1] == [line]:
        return
    if len(lines) >= MOST:
        lines = lines[::2]
    with writing(path):
        new = path.with_suffix(".new")
        new.write_text("\n".join([f"# {title}", *lines, f"{line} {at}", ""]), "utf-8")
        new.replace(path)
