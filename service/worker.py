"""A worker process of `stich serve`: loads the application, and ends when the command ends."""

import os
import signal
import sys
import threading
import time
from typing import Any, Final

_SWITCH_SECONDS: Final = 0.0005
"""How long the thread with long work may keep the event loop waiting. With Python's 5 ms, short
requests beside long ones took 9 ms in place of 3 (medians); long work takes 5 % more."""


def load(command: int, target: str) -> Any:
    """Load the application that this worker serves; granian calls this in the worker.

    `command` is the process ID of the command, which may have ended before this is called.
    """
    # Until its event loop runs, it would have the handler of the command, and SIGTERM no effect.
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
