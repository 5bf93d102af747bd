"""Ctrl-C and SIGTERM: a sentence and the exit code that shells expect, never a traceback."""

import os
import signal
from types import FrameType

_STOPS = (signal.SIGINT, signal.SIGTERM)


def _exit(number: int, _frame: FrameType | None) -> None:
    os.write(2, b"\nStopped.\n")
    os._exit(128 + number)


def _raise(number: int, _frame: FrameType | None) -> None:
    # A second Ctrl-C means: do not wait for clean-up.
    signal.signal(number, _exit)
    raise KeyboardInterrupt(number)


def exit_at_once() -> None:
    """Let these signals end the process at once, unless they are ignored (as in background).

    Call this while modules load: an exception could surface anywhere, and there is nothing to clean
    up.
    """
    for number in _STOPS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _exit)


def raise_interrupts() -> None:
    """Let these signals raise KeyboardInterrupt with their number, unless they are ignored."""
    for number in _STOPS:
        if signal.getsignal(number) == _exit:
            signal.signal(number, _raise)
