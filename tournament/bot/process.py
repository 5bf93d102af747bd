"""A bot's process: started, watched and ended through a supervisor of its own."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from tournament.bot.control_group import group_files, new_group
from tournament.bot.environment import CHECKOUT
from tournament.bot.sandbox import seccomp
from tournament.bot.sandbox.bubblewrap import SANDBOX_HOME
from tournament.bot.supervisor import groups
from tournament.bot.supervisor.process_tree import memory_mb
from tournament.config import Bot, Limits

_SUPERVISOR = (
    f"import sys; sys.path.append({str(CHECKOUT)!r}); "
    "from tournament.bot.supervisor.main import main; main()"
)
_ANSWER_S = 2.0  # a supervisor answers at once
_END_S = 5.0  # and ends all its processes at once
_GONE = "its supervisor is gone"


@dataclass(frozen=True, slots=True)
class LaunchSettings:
    """How every bot of a cup is started. `sandboxes` has the words that start the sandbox of each
    bot; None if there are no sandboxes. `group` is the folder of the control groups. Relative paths
    of bots start from `folder`, that of the cup."""

    limits: Limits
    start_ms: int
    sandboxes: Mapping[str, tuple[str, ...]] | None = None
    group: str | None = None
    folder: Path = field(default_factory=Path.cwd)


class BotProcess:
    """The process of one bot, which ends with `close` or with the runner. Safe for threads."""

    def __init__(self, bot: Bot, env: Mapping[str, str], launch: LaunchSettings) -> None:
        """Start the supervisor, which starts the bot; nothing is waited for."""
        self._control, theirs = socket.socketpair()
        self.proxy: socket.socket | None = None
        self._pid: int | None = None
        self._start_s = max(_ANSWER_S, launch.start_ms / 1000)
        self._written = 0
        self._lock = Lock()
        with ExitStack() as stack:
            passed = [stack.enter_context(theirs).fileno()]
            if launch.sandboxes is not None:
                self.proxy, inner = socket.socketpair()
                passed.append(stack.enter_context(inner).fileno())
                passed += stack.enter_context(seccomp.opened())[1]
            self._supervisor = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-I", "-S", "-c", _SUPERVISOR, *map(str, passed)],
                pass_fds=passed,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        limits, inside = launch.limits, launch.sandboxes
        self._group = None if launch.group is None else new_group(launch.group)
        order = {
            "sandbox": None if inside is None else inside[bot.name],
            "argv": shlex.split(str(bot.command)),
            "env": env,
            "cwd": str(launch.folder / (bot.dir or "")),
            "home": None if inside is None else SANDBOX_HOME,
            "group": self._group and {"folder": self._group, "files": group_files(limits)},
            "memory_mb": limits.memory_mb,
            "files": limits.files,
        }
        data = json.dumps(order).encode("ascii")
        self._control.sendall(len(data).to_bytes(4, "big") + data)

    def status(self) -> int | str | None:
        """None while it runs, else its return code, or why it could not be started."""
        status: int | str | None = self._ask(b"S", _GONE)
        return status

    def output(self) -> str:
        """The end of what it has written; empty if its supervisor is gone."""
        try:
            return self._request(b"O").decode("utf-8", "backslashreplace")
        except OSError:
            return ""

    def clear_output(self) -> bool:
        """Forget what it has written so far. Whether it runs, so that one request does for both."""
        return self._ask(b"C", _GONE) is None

    def written(self) -> int:
        """How many bytes it has written so far; the last known number if its supervisor is gone."""
        self._written = self._ask(b"W", self._written)
        return self._written

    def memory_mb(self) -> float:
        """The memory that it uses now, with its supervisor and its sandbox."""
        return memory_mb(self._supervisor.pid)

    def close(self) -> None:
        """End it and everything that it has started; a second call does nothing."""
        if self._control.fileno() >= 0:
            with contextlib.suppress(OSError):
                self._read_pid(0.001)
        self._control.close()
        if self.proxy is not None:
            self.proxy.close()
        if self._supervisor.returncode is None:
            self._end_supervisor()

    def _end_supervisor(self) -> None:
        """Wait until the supervisor has ended everything. If it was killed, or has to be, end the
        bot's process group and control group."""
        try:
            self._supervisor.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            self._supervisor.wait()
        if self._supervisor.returncode and self._pid:
            with contextlib.suppress(OSError):
                os.killpg(self._pid, signal.SIGKILL)
        if self._supervisor.returncode and self._group is not None:
            groups.kill(self._group)
            groups.remove(self._group)

    def _ask(self, command: bytes, otherwise: Any) -> Any:
        """What the supervisor answers, from JSON; `otherwise` if it is gone."""
        try:
            return json.loads(self._request(command))
        except OSError:
            return otherwise

    def _request(self, command: bytes) -> bytes:
        """The supervisor's answer; OSError if there is none, and then the bot is ended."""
        try:
            with self._lock:
                self._read_pid(self._start_s)
                self._control.settimeout(_ANSWER_S)
                self._control.sendall(command)
                return self._read_answer()
        except OSError:
            # A late answer would be taken for the answer to the next command.
            self._control.close()
            raise

    def _read_pid(self, seconds: float) -> None:
        """Read the supervisor's first answer, unless it was read before."""
        if self._pid is None:
            self._control.settimeout(seconds)
            self._pid = json.loads(self._read_answer())

    def _read_answer(self) -> bytes:
        return self._read_exactly(int.from_bytes(self._read_exactly(4), "big"))

    def _read_exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            chunk = self._control.recv(size - len(data))
            if not chunk:
                raise ConnectionError(_GONE)
            data += chunk
        return bytes(data)
