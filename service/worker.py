"""Loads the application in a worker of `stich serve`, and ends the worker when the command ends."""

import os
import signal
import sys
import threading
import time
from typing import Any, Final

# How long a thread with long work may keep the event loop waiting. With Python's default of 5 ms, a
# short request beside long work took 9 ms (median), not 3. Long work takes 5 % longer.
_SWITCH_SECONDS: Final = 0.0005


def load(command: int, target: str) -> Any:
    """Return the application for granian, which calls this function in the worker process.

    Also reset the handler of SIGTERM, set how often Python switches threads, and start a thread
    that ends the worker soon after its parent, process `command`, has ended. Ignore `target`.

    Raises:
        ConfigError: if an environment variable has an invalid value.
    """
    # The worker inherits the command's handler, which would ignore SIGTERM until the loop runs.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_exit_with_parent, args=(command,), daemon=True).start()
    # imported only here, so that the parent process starts fast and stays small
    from service.pages import METRICS
    from service.wsgi import app
    from serving.rsgi import RsgiFront

    sys.setswitchinterval(_SWITCH_SECONDS)
    return RsgiFront(app, app.config["MAX_CONTENT_LENGTH"], app.extensions[METRICS].registry)


def _exit_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
