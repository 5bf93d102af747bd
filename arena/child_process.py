"""Servers that are processes of their own end with the command that started them."""

from __future__ import annotations

import os
import threading
import time


def end_with_parent() -> None:
    """From now on, end this process soon after its parent: one that is killed cannot end it."""
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
