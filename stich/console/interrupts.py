"""Ctrl-C: exit code 130 and a sentence, whenever it comes, never a traceback."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

EXIT_CODE = 128 + signal.SIGINT
"""That of a program which Ctrl-C has ended, as shells report it."""


class _ExitAtOnce:
    """A handler that ends the process with a sentence. Nothing is cleaned up, so it is for times
    when there is nothing to clean up: while modules load, an exception could come out anywhere."""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        os.write(2, f"\n{self._sentence}\n".encode())
        os._exit(128 + number)


def _raise(number: int, frame: FrameType | None) -> None:
    # Whoever presses Ctrl-C again does not want to wait until everything is cleaned up.
    signal.signal(signal.SIGINT, _ExitAtOnce("Stopped."))
    raise KeyboardInterrupt


def exit_at_once(sentence: str = "Stopped.") -> None:
    """From now on, Ctrl-C ends the process at once, unless it is ignored (as in background)."""
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, _ExitAtOnce(sentence))
    sys.unraisablehook = _unraisable


def _unraisable(error: sys.UnraisableHookArgs) -> None:
    """Ctrl-C inside a destructor is no reason for a traceback."""
    if not issubclass(error.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(error)


def raise_interrupts() -> None:
    """From now on, Ctrl-C raises KeyboardInterrupt, if it would have ended the process at once."""
    if isinstance(signal.getsignal(signal.SIGINT), _ExitAtOnce):
        signal.signal(signal.SIGINT, _raise)


@contextmanager
def exiting_at_once(sentence: str) -> Iterator[None]:
    """Within, Ctrl-C ends the process at once, and afterwards raises KeyboardInterrupt. Has no
    effect in a process that is not the program."""
    if signal.getsignal(signal.SIGINT) == _raise:
        signal.signal(signal.SIGINT, _ExitAtOnce(sentence))
        yield
        raise_interrupts()
    else:
        yield
