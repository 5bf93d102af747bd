"""Handle Ctrl-C and SIGTERM: print a sentence, and exit with the code that shells expect."""

import os
import signal
from types import FrameType

_STOPS = (signal.SIGINT, signal.SIGTERM)


def _exit(number: int, _frame: FrameType | None) -> None:
    """End the process at once, with 128 plus the signal number as its exit code."""
    os.write(2, b"\nStopped.\n")
    os._exit(128 + number)


def _raise(number: int, _frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt. The same signal once more ends the process without clean-up."""
    signal.signal(number, _exit)
    raise KeyboardInterrupt(number)


def exit_at_once() -> None:
    """Let SIGINT and SIGTERM end the process at once, unless they are ignored.

    This is for the time while modules are loading: there is nothing to clean up yet, and an
    exception could be raised anywhere. A shell makes background processes ignore SIGINT.
    """
    for number in _STOPS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _exit)


def raise_interrupts() -> None:
    """Let SIGINT and SIGTERM raise KeyboardInterrupt with their number, after `exit_at_once`.

    Signals that `exit_at_once` has left ignored stay ignored. If `exit_at_once` was not called,
    nothing changes.
    """
    for number in _STOPS:
        if signal.getsignal(number) == _exit:
            signal.signal(number, _raise)
