"""Bots that the runner starts: each with a keeper of its own, on a port of its own."""

from __future__ import annotations

import contextlib
import fcntl
import json
import mmap
import os
import random
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import termios
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from tournament.bot.http_client import (
    ConnectionLost,
    Dial,
    ProtocolError,
    ResponseTooLarge,
    dial_inet,
    dial_through,
)
from tournament.bot.player import HttpBot, declared
from tournament.config import Limits
from tournament.text import printable

_KEEPER = Path(__file__).with_name("supervisor.py")
_PORTS = (10_000, 32_000)  # below what the system gives to outgoing connections
_PAUSE_S = 0.01
_TRIES = 3
_SHARED = 16
_KEEPER_S = 2.0  # a keeper answers at once, unless somebody has stopped or killed it
_END_S = 5.0  # and ends at once all that it keeps, unless it is stopped again and again


class StartError(Exception):
    """A bot that does not start; the text is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class LaunchSettings:
    """What every started bot of a cup stands on. `prefix` wraps the command (a sandbox)."""

    limits: Limits
    start_ms: int
    prefix: tuple[str, ...] = ()


class StartedBot(HttpBot):
    """A bot that was started, and what it writes."""

    def __init__(self, name: str, command: str, launch: LaunchSettings) -> None:
        """Launch it; `ready` waits until it answers."""
        self.name = name
        self.command = command
        self._launch = launch
        self._began = monotonic()
        self._port = _free_port()
        self._door: socket.socket | None = None
        self._process: int | None = None
        self._forgotten = 0
        self._closed = False
        super().__init__(f"http://127.0.0.1:{self._port}", self._dial(bool(launch.prefix)))
        self.about: Mapping[str, Any] = {}
        self.answered = False
        self._spawn(shlex.split(command))

    def _spawn(self, argv: list[str]) -> None:
        """Start the keeper and tell it what to start."""
        self._control, theirs = socket.socketpair()
        self._pipe, write = os.pipe()
        shared = os.memfd_create("stich-bot")
        os.truncate(shared, _SHARED)
        self._shared = mmap.mmap(shared, _SHARED, access=mmap.ACCESS_READ)
        passed = [theirs.fileno(), self._pipe, write, shared]
        if self._launch.prefix:
            self._door, inner = socket.socketpair()
            passed.append(inner.detach())
        try:
            self._keeper = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-I", "-S", str(_KEEPER), *map(str, passed)],
                pass_fds=passed,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        finally:
            theirs.close()
            for descriptor in passed[2:]:
                os.close(descriptor)
        order = {
            "prefix": self._launch.prefix,
            "argv": argv,
            "env": environment(argv, self._port),
            "cwd": os.getcwd(),
            "memory_mb": self._launch.limits.memory_mb,
            "files": self._launch.limits.files,
        }
        data = json.dumps(order).encode("ascii")
        self._control.sendall(len(data).to_bytes(4, "big") + data)

    def _dial(self, sandboxed: bool) -> Dial:
        """Connections to the bot; into a sandbox through its door."""
        address = ("127.0.0.1", self._port)
        if not sandboxed:
            return dial_inet(address, socket.AF_INET)

        def dial(deadline: float) -> socket.socket:
            if self._door is None:
                raise ConnectionError("its sandbox is closed")
            return dial_through(self._door, address, deadline)

        return dial

    def ready_or_again(self) -> StartedBot:
        """Wait as `ready` does; on another port should this one have been taken meanwhile."""
        bot = self
        for _ in range(_TRIES):
            try:
                return bot.ready()
            except StartError as error:
                if "ddress already in use" not in str(error):
                    raise
                bot = StartedBot(self.name, self.command, self._launch)
        return bot.ready()

    def ready(self) -> StartedBot:
        """Wait until it answers GET /; StartError, and everything of it ended, if it does not."""
        deadline = self._began + self._launch.start_ms / 1000
        try:
            while True:
                status = self.status()
                if status is not None:
                    raise StartError(self._ended(status))
                try:
                    self.about = declared(self.greet(deadline - monotonic()))
                except (ConnectionLost, TimeoutError):
                    if monotonic() >= deadline:
                        raise StartError(self._late()) from None
                    sleep(_PAUSE_S)
                except (ResponseTooLarge, ProtocolError) as error:
                    raise StartError(f"{self.name}: GET / has no usable answer: {error}") from None
                else:
                    if self._is_its_own():
                        self.answered = True
                        return self
                    super().close()
                    sleep(_PAUSE_S)
                    if monotonic() >= deadline:
                        raise StartError(self._late())
        except BaseException:
            self.close()
            raise

    def status(self) -> int | str | None:
        """None while it runs, else its return code, or why it could not be started."""
        try:
            status: int | str | None = json.loads(self._say(b"S"))
        except (OSError, ValueError):
            return "its keeper is gone"
        return status

    def _is_its_own(self) -> bool:
        """Whether it is this bot that has answered; in a sandbox nobody else can. StartError."""
        try:
            return bool(self._launch.prefix) or bool(json.loads(self._say(b"P")))
        except (OSError, ValueError):
            raise StartError(self._ended("its keeper is gone")) from None

    @property
    def running(self) -> bool:
        """Whether it has not ended; like `status`, but asks the kernel alone."""
        if self._process is None:
            try:
                self._process = os.pidfd_open(int.from_bytes(self._shared[8:], "little"))
            except OSError:
                return False
        return not select.select([self._process], [], [], 0)[0]

    def output(self) -> str:
        """The end of what it has written in this match."""
        if self.written() == self._forgotten:
            return ""
        try:
            return self._say(b"T").decode("utf-8", "backslashreplace")
        except OSError:
            return ""

    def fresh(self) -> None:
        """Forget what it has written: a match begins."""
        if self.written() != self._forgotten:
            with contextlib.suppress(OSError):
                self._say(b"M")
            self._forgotten = self.written()

    def written(self) -> int:
        """How many bytes it has written: those drained, and those still in the pipe."""
        waiting = fcntl.ioctl(self._pipe, termios.FIONREAD, bytes(4))
        return int.from_bytes(self._shared[:8], "little") + int.from_bytes(waiting, sys.byteorder)

    def close(self) -> None:
        """End it and everything that it has started; a second call does nothing."""
        super().close()
        if self._closed:
            return
        self._closed = True
        bot = int.from_bytes(self._shared[8:], "little")
        self._control.close()
        os.close(self._pipe)
        self._shared.close()
        if self._process is not None:
            os.close(self._process)
            self._process = None
        if self._door is not None:
            self._door.close()
        self._end_keeper(bot)

    def _end_keeper(self, bot: int) -> None:
        """Wait until the keeper has ended everything; one that was stopped goes on first. What is
        left by one that was killed, or must be, goes with the bot's process group."""
        self._keeper.send_signal(signal.SIGCONT)
        try:
            self._keeper.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()
        if self._keeper.returncode and bot:
            with contextlib.suppress(OSError):
                os.killpg(bot, signal.SIGKILL)

    def _say(self, order: bytes) -> bytes:
        """What the keeper answers; OSError if it does not, and everything of the bot is ended."""
        try:
            self._control.settimeout(_KEEPER_S)
            self._control.sendall(order)
            return self._exactly(int.from_bytes(self._exactly(4), "big"))
        except OSError:
            # a late answer would be taken for that to the next question
            self._control.close()
            self._keeper.send_signal(signal.SIGCONT)
            raise

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            chunk = self._control.recv(size - len(data))
            if not chunk:
                raise ConnectionError("The keeper is gone.")
            data += chunk
        return bytes(data)

    def _ended(self, status: int | str) -> str:
        if isinstance(status, str):
            return f'{self.name}: "{self.command}" cannot be started: {status}.'
        how = f"was killed by signal {-status}" if status < 0 else f"ended with code {status}"
        return f'{self.name}: "{self.command}" {how} before it answered GET /.{self._last()}'

    def _late(self) -> str:
        return (
            f'{self.name}: "{self.command}" did not answer GET / on 127.0.0.1:{self._port} within'
            f" {self._launch.start_ms} ms; it must listen at the port in PORT.{self._last()}"
        )

    def _last(self) -> str:
        lines = self.output().strip().splitlines()
        return f" Its last line: {printable(lines[-1][:200])}" if lines else ""


def start(name: str, command: str, launch: LaunchSettings) -> StartedBot:
    """A bot that has answered; StartError."""
    return StartedBot(name, command, launch).ready_or_again()


def environment(argv: list[str], port: int) -> dict[str, str]:
    """What a started bot finds in its environment, beside HOME and TMPDIR.

    `python` means this interpreter, and it finds the project's own bots.
    """
    path = os.environ.get("PATH", os.defpath)
    env = {
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "PORT": str(port),
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
    }
    if argv[0] in ("python", "python3"):
        path = os.pathsep.join((os.path.dirname(sys.executable), path))
        checkout = Path(__file__).parents[2]
        if (checkout / "pyproject.toml").is_file():
            env["PYTHONPATH"] = str(checkout)
    env["PATH"] = path
    return env


def found(command: str) -> bool:
    """Whether the program of a command is there."""
    argv = shlex.split(command)
    return shutil.which(argv[0], path=environment(argv, 0)["PATH"]) is not None


def _free_port() -> int:
    for _ in range(100):
        port = random.SystemRandom().randrange(*_PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise StartError("No free port was found between {} and {}.".format(*_PORTS))
