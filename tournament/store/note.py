"""The user's note about a run, which shows whether its store was changed or replaced meanwhile."""

import json
import os
from contextlib import suppress

from tournament.store.chain import Digest
from tournament.store.engine import StoreError
from tournament.store.signing import read_state, state_path, writing

_FOLDER = "runs"  # in the state folder
_SIZE = 512  # bytes: always the same, so that one call overwrites a note


def note(run: str, *known: Digest) -> None:
    """Write the note about the run with the id `run`, replacing any earlier note. `known` lists the
    digests that the store may have from now on: those before and after a commit.

    Raises:
        StoreError: if the note cannot be written, or the user has no home folder.
    """
    path = state_path(_FOLDER, run)
    text = json.dumps({"run": run, "digests": known}).ljust(_SIZE - 1) + "\n"
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
    path = state_path(_FOLDER, run)
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
        state_path(_FOLDER, run).unlink()
