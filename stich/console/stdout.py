"""Standard output that cannot be written: a sentence where a disk is full, nothing where a reader
has seen enough."""

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
    """Standard output cannot be written. `kept` may say what is done anyway, and how to go on."""

    kept = ""


class _Raw(io.FileIO):
    """Standard output's descriptor. What comes after the first error is dropped: nothing of it can
    be written, and Python would say so once more at the end."""

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
    """Within, standard output that fails ends the program: with a sentence and exit code 1, or
    without a word where its reader has gone."""
    plain = sys.stdout
    try:
        descriptor = plain.fileno()
        raw = _Raw(descriptor)
    except (AttributeError, OSError):  # it is closed, or not a file at all
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
            if not (raw.failed or own.closed):  # who wrote there last may have closed it
                own.flush()
    except BrokenPipeError:
        if not raw.failed:
            raise
        sys.exit(1)
    except OutputError as error:
        kept = error.kept or "Make room, or send it elsewhere."
        sys.exit(f"Standard output cannot be written: {error.strerror}. {kept}")
    finally:
        sys.stdout = plain
