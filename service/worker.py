"""A worker process of `stich serve`: loads the application, and ends when the command ends."""

import os
import signal
import sys
import threading
import time
from typing import Any, Final

_SWITCH_SECONDS: Final = 0.0005
"""How long the thread with long work may keep the event loop waiting. With Python's default of
5 ms, short requests beside long ones took a median of 9 ms, now 3 ms; long work takes 5 % more."""


def load(command: int, target: str) -> Any:
    """Load the application that this worker serves. Granian calls this in the worker.

    `command` is the process ID of the command, which may have ended before this is called.
    """
    # Until its event loop runs, the worker has the command's handler, and would ignore SIGTERM.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_exit_with_parent, args=(command,), daemon=True).start()
    # imported in the worker only, so that the parent starts fast and stays small
    from service.static_routes import METRICS
    from service.wsgi import app
    from serving.rsgi import RsgiFront

    sys.setswitchinterval(_SWITCH_SECONDS)
    return RsgiFront(app, app.config["MAX_CONTENT_LENGTH"], app.extensions[METRICS].registry)


def _exit_with_parent(parent: int) -> None:
    """End this process soon after its parent: a parent that is killed cannot end its workers."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
