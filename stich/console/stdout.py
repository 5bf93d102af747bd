"""Errors of standard output: a sentence if the disk is full, silence if its reader is gone."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class OutputError(OSError):
    """Standard output cannot be written. `kept` may say what is stored, and how to resume."""

    kept = ""


class _Raw(io.FileIO):
    """Writes to the descriptor of standard output, and drops everything after the first error.

    Without this, Python would report the error again when it flushes at exit.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self.failed = False

    def write(self, data: ReadableBuffer, /) -> int:
        size = memoryview(data).nbytes
        if self.failed or not size:
            return size
        try:
            return super().write(data)
        except BrokenPipeError:
            self.failed = True
            raise
        except OSError as error:
            self.failed = True
            raise OutputError(error.errno, error.strerror or "unknown error") from error


@contextmanager
def guarded() -> Iterator[None]:
    """Within, an error of standard output exits with code 1: with a sentence, or silently if the
    reader has closed it."""
    plain = sys.stdout
    try:
        descriptor = plain.fileno()
        raw = _Raw(descriptor)
    except (AttributeError, OSError):  # closed, or not a file
        yield
        return
    plain.flush()
    unbuffered = isinstance(plain.buffer, io.RawIOBase)
    own = io.TextIOWrapper(
        raw if unbuffered else cast("BinaryIO", io.BufferedWriter(raw)),
        encoding=plain.encoding,
        errors=plain.errors,
        line_buffering=os.isatty(descriptor),
        write_through=unbuffered,
    )
    sys.stdout = own
    try:
        try:
            yield
        finally:
            if not (raw.failed or own.closed):  # a command may have closed it
                own.flush()
    except BrokenPipeError:
        if not raw.failed:
            raise
        sys.exit(1)
    except OutputError as error:
        kept = error.kept or "Free some space, or redirect it elsewhere."
        sys.exit(f"Standard output cannot be written: {error.strerror}. {kept}")
    finally:
        sys.stdout = plain
