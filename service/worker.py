"""A worker process of `stich serve`: the application, and an end when the command has ended."""

from __future__ import annotations

import os
import threading
import time
from typing import Any


def load(target: str) -> Any:
    """The application that a worker serves; granian calls this in the worker."""
    parent = os.getppid()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    from service.wsgi import app

    return app


def _end_with(parent: int) -> None:
    """End this process soon after its parent: one that was killed could not end its workers."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
