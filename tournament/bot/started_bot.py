"""Bots that the runner starts, each on a port of its own."""

from __future__ import annotations

import errno
import os
import random
import shlex
import shutil
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from tournament.bot.dial import Dial, dial_inet, dial_through
from tournament.bot.http_client import ConnectionLost, ProtocolError, ResponseTooLarge
from tournament.bot.player import HttpBot
from tournament.bot.process import BotProcess, LaunchSettings
from tournament.bot.protocol import about_or_empty
from tournament.config import Bot
from tournament.text import printable

_PORTS = (10_000, 32_000)  # below the ports that the system gives to outgoing connections
_PAUSE_S = 0.01
_TRIES = 3


class StartError(Exception):
    """A bot that does not start; the text is a sentence that says why."""


class StartedBot(HttpBot):
    """A bot that was started. `about` is what it says about itself, once it is `answered`."""

    def __init__(self, bot: Bot, launch: LaunchSettings) -> None:
        """Start it by its command; `ready` waits until it answers."""
        self.name = bot.name
        self.command = str(bot.command)
        self._bot = bot
        self.about: Mapping[str, Any] = {}
        self.answered = False
        self._launch = launch
        self._began = monotonic()
        self._port = _free_port()
        argv = shlex.split(self.command)
        env = {**environment(argv, self._port), **bot.env}
        self._process = BotProcess(argv, env, launch.folder / (bot.dir or ""), launch)
        super().__init__(f"http://127.0.0.1:{self._port}", self._dial())

    def _dial(self) -> Dial:
        """How to connect to the bot, through the proxy if it is in a sandbox."""
        address = ("127.0.0.1", self._port)
        proxy = self._process.proxy
        if proxy is None:
            return dial_inet(address, socket.AF_INET)
        return lambda deadline: dial_through(proxy, address, deadline)

    def ready_on_any_port(self) -> StartedBot:
        """Wait as `ready` does. If another program has taken the port meanwhile, start the bot
        again on another one."""
        bot = self
        for _ in range(_TRIES):
            try:
                return bot.ready()
            except StartError:
                if bot._launch.prefix or not _is_taken(bot._port):
                    raise
                bot = StartedBot(self._bot, self._launch)
        return bot.ready()

    def ready(self) -> StartedBot:
        """Wait until it answers GET /; if it does not, end it and raise StartError."""
        deadline = self._began + self._launch.start_ms / 1000
        try:
            while not self._answers(deadline):
                if monotonic() >= deadline:
                    raise StartError(self._late())
                sleep(_PAUSE_S)
        except BaseException:
            self.close()
            raise
        self.answered = True
        return self

    def _answers(self, deadline: float) -> bool:
        """Whether the bot answers GET / now; StartError if it never will."""
        status = self._process.status()
        if status is not None:
            raise StartError(self._ended(status))
        try:
            self.about = about_or_empty(self.get_about(deadline - monotonic()))
        except (ConnectionLost, TimeoutError):
            return False
        except (ResponseTooLarge, ProtocolError) as error:
            raise StartError(f"{self.name}: GET / has no usable answer: {error}") from None
        # Nobody else can answer in the network of a sandbox.
        if self._launch.prefix or self._process.owns_port():
            return True
        self._connection.close()
        return False

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.status() is None

    def status(self) -> int | str | None:
        """None while it runs, else its return code, or why it could not be started."""
        return self._process.status()

    def output(self) -> str:
        """The end of what it has written in this match."""
        return self._process.output()

    def clear_output(self) -> bool:
        """Forget what it has written, since a match begins; whether it has not ended."""
        return self._process.clear_output()

    def written(self) -> int:
        """How many bytes it has written since it was started."""
        return self._process.written()

    def close(self) -> None:
        """End it and everything that it has started; a second call does nothing."""
        super().close()
        self._process.close()

    def _ended(self, status: int | str) -> str:
        if isinstance(status, str):
            return f'{self.name}: "{self.command}" cannot be started: {status}.'
        how = f"was killed by signal {-status}" if status < 0 else f"ended with code {status}"
        return f'{self.name}: "{self.command}" {how} before it answered GET /.{self._last_line()}'

    def _late(self) -> str:
        return (
            f'{self.name}: "{self.command}" did not answer GET / on 127.0.0.1:{self._port} within'
            f" {self._launch.start_ms} ms; it must listen at the port in PORT.{self._last_line()}"
        )

    def _last_line(self) -> str:
        lines = self.output().strip().splitlines()
        return f" Its last line: {printable(lines[-1][:200])}" if lines else ""


def start(bot: Bot, launch: LaunchSettings) -> StartedBot:
    """Start a bot by its command and wait until it answers; StartError."""
    return StartedBot(bot, launch).ready_on_any_port()


def environment(argv: Sequence[str], port: int) -> dict[str, str]:
    """The environment of a started bot, besides HOME and TMPDIR.

    `python` is this interpreter, and it finds the project's own bots.
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


def is_installed(command: str) -> bool:
    """Whether the program of a command is there."""
    argv = shlex.split(command)
    return shutil.which(argv[0], path=environment(argv, 0)["PATH"]) is not None


def _free_port() -> int:
    for _ in range(100):
        port = random.SystemRandom().randrange(*_PORTS)
        if not _is_taken(port):
            return port
    raise StartError("No free port was found between {} and {}.".format(*_PORTS))


def _is_taken(port: int) -> bool:
    """Whether a program listens at a port of this machine."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            return error.errno == errno.EADDRINUSE
    return False
