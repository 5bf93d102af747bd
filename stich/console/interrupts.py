"""Handle Ctrl-C and SIGTERM: print a sentence, and exit with the code that shells expect."""

import os
import signal
from types import FrameType

_STOPS = (signal.SIGINT, signal.SIGTERM)


def _exit(number: int, _frame: FrameType | None) -> None:
    os.write(2, b"\nStopped.\n")
    os._exit(128 + number)


def _raise(number: int, _frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, and let the same signal end the process at once the next time."""
    signal.signal(number, _exit)
    raise KeyboardInterrupt(number)


def exit_at_once() -> None:
    """Let SIGINT and SIGTERM print "Stopped." to stderr and end the process at once, with exit
    status 128 plus the signal's number. A signal that is ignored, as SIGINT is in a shell's
    background process, stays ignored.

    Call this before other modules are loaded. While they load, there is nothing to clean up, and
    KeyboardInterrupt could be raised anywhere.
    """
    for number in _STOPS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _exit)


def raise_interrupts() -> None:
    """Let the signals that `exit_at_once` handles raise KeyboardInterrupt, with the signal's number
    as its argument. Each signal does so once, and ends the process at once the next time. If
    `exit_at_once` was not called, nothing changes."""
    for number in _STOPS:
        if signal.getsignal(number) == _exit:
            signal.signal(number, _raise)
