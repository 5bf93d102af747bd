"""A server beside a command, in a process of its own that is started again when it ends."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Final

import click

_PAUSE_S: Final = 1.0
_TRIES: Final = 5
_SHORT_S: Final = 30.0  # one that lived shorter counts as a try
_END_S: Final = 10


class ChildServer:
    """A server that runs until `close`; `name` begins a sentence."""

    def __init__(self, name: str, command: Sequence[str], env: Mapping[str, str]) -> None:
        self._name = name
        self._command = command
        self._env = env
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._process = self._start()
        self.running = True
        """False once it has been given up."""
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def close(self) -> None:
        """End it."""
        with self._lock:
            self._closing.set()
            self._process.terminate()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._watcher.join()

    def _start(self) -> subprocess.Popen[bytes]:
        # Ctrl-C is for the command, which ends this; results on standard output are the command's
        return subprocess.Popen(  # noqa: S603 - our own program
            self._command, env=self._env, start_new_session=True, stdout=2
        )

    def _watch(self) -> None:
        tries, began = 0, monotonic()
        while True:
            self._process.wait()
            if self._closing.is_set():
                return
            tries = tries + 1 if monotonic() < began + _SHORT_S else 1
            if tries == _TRIES:
                self.running = False
                click.echo(
                    f"{self._name} keeps stopping; giving up. Run the command again.", err=True
                )
                return
            click.echo(f"{self._name} has stopped; restarting it.", err=True)
            self._closing.wait(_PAUSE_S)  # its port may still be in use
            with self._lock:
                if self._closing.is_set():
                    return
                began = monotonic()
                self._process = self._start()
