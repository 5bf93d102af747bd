"""One runner for each store: a second one is refused; the lock of a killed one is released."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tournament.store.store import Store, StoreError

FILE = "run.lock"


@contextmanager
def only_runner(store: Store) -> Iterator[None]:
    """Hold the lock of a store; StoreError if another runner does."""
    if store.folder is None:
        with store.advisory_lock():
            yield
        return
    descriptor = _locked(store.folder / FILE)
    try:
        yield
    finally:
        os.close(descriptor)


def _locked(path: Path) -> int:
    """A descriptor that holds the lock while it is open."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.fchmod(descriptor, 0o600)  # others must not hold it
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}.") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except BlockingIOError:
        who = os.read(descriptor, 20).decode("ascii", "replace").strip()
        os.close(descriptor)
        raise StoreError(
            f"{path.parent}: another runner is at work here (process {who or 'unknown'}); wait for"
            " it, or stop it first."
        ) from None
    except OSError as error:
        os.close(descriptor)
        raise StoreError(f"{path}: cannot be written: {error.strerror}.") from None
    return descriptor
