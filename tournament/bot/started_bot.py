"""Bots that the runner starts, each on a port of its own."""

from __future__ import annotations

import errno
import os
import random
import shlex
import socket
from collections.abc import Mapping
from time import monotonic, sleep
from typing import Any

from tournament.bot.dial import Dial, dial_inet, dial_through
from tournament.bot.environment import environment
from tournament.bot.http_client import ConnectionLost, ProtocolError, ResponseTooLarge
from tournament.bot.player import HttpBot
from tournament.bot.prerequisites import program_problem
from tournament.bot.process import BotProcess, LaunchSettings
from tournament.bot.protocol import about_or_empty
from tournament.bot.sandbox.bubblewrap import bot_folder
from tournament.config import Bot, is_reference
from tournament.text import printable

_PORTS = (10_000, 32_000)  # below the ports that the system gives to outgoing connections
_PAUSE_S = 0.01
_LAST_TRY_S = 1.0
_TRIES = 3


class StartError(Exception):
    """A bot that does not start; the text is a sentence that says why."""


class StartedBot(HttpBot):
    """A bot that was started, with its `process`. `about` is what it says about itself, once it is
    `answered`."""

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
        env = {**environment(shlex.split(self.command), self._port), **bot.env}
        self.process = BotProcess(bot, env, launch)
        super().__init__(f"http://127.0.0.1:{self._port}", self._make_dial())

    def _make_dial(self) -> Dial:
        """How to connect to the bot, through the proxy if it is in a sandbox."""
        address = ("127.0.0.1", self._port)
        proxy = self.process.proxy
        if proxy is not None:
            return lambda deadline: dial_through(proxy, address, deadline)
        return dial_inet(address, socket.AF_INET)

    def ready_on_any_port(self) -> StartedBot:
        """Wait as `ready` does. If another program has taken the port meanwhile, start the bot
        again on another one."""
        bot = self
        for _ in range(_TRIES):
            try:
                return bot.ready()
            except StartError:
                if bot._launch.sandboxes is not None or not _is_taken(bot._port):
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
        status = self.process.status()
        if status is not None:
            raise StartError(self._ended(status))
        try:
            # Whoever waited for other bots first may come late.
            seconds = max(deadline - monotonic(), _LAST_TRY_S)
            self.about = about_or_empty(self.get_about(seconds))
        except (ConnectionLost, TimeoutError):
            return False
        except (ResponseTooLarge, ProtocolError) as error:
            raise StartError(f"{self.name}: GET / has no usable answer: {error}") from None
        return self.running

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.process.status() is None

    def output(self) -> str:
        """The end of what it has written in this match."""
        return self.process.output()

    def close(self) -> None:
        """End it and everything that it has started; a second call does nothing."""
        super().close()
        self.process.close()

    def _ended(self, status: int | str) -> str:
        folder = self._launch.folder / (self._bot.dir or "")
        if os.path.isdir(folder):  # where a sandbox has begun, it does not say what is missing
            problem = program_problem(shlex.split(self.command), folder)
            if problem is not None:
                return f"{self._who}cannot be started: {problem}"
        if isinstance(status, str):
            return (
                f"{self._who}cannot be started: {status}; install what is missing, or fix the"
                " command."
            )
        how = f"was killed by signal {-status}" if status < 0 else f"ended with code {status}"
        return f"{self._who}{how} before it answered GET /.{self._last_line()}{self._sees()}"

    @property
    def _who(self) -> str:
        """Its name and its command, or the command alone if that is its name."""
        name = "" if self.name == self.command else f"{self.name}: "
        return f'{name}"{self.command}" '

    def _late(self) -> str:
        if self._connection.received:
            return (
                f"{self._who}began to answer GET /, but the end of its answer did not come within"
                f" {self._launch.start_ms} ms; send Content-Length, or close the connection."
                f"{self._last_line()}"
            )
        return (
            f"{self._who}did not answer GET / on 127.0.0.1:{self._port} within"
            f" {self._launch.start_ms} ms; it must listen at the port in PORT.{self._last_line()}"
        )

    def _sees(self) -> str:
        """Where a bot in a sandbox can have its files."""
        if self._launch.sandboxes is None or is_reference(self._bot):
            return ""
        folder = bot_folder(self._bot, self._launch.folder)
        return (
            f" In the sandbox it sees the programs of the system and {folder}; if its files are"
            " elsewhere, make that folder its dir, or start it there."
        )

    def _last_line(self) -> str:
        lines = self.output().strip().splitlines()
        return f" Its last line: {printable(lines[-1][:200])}" if lines else ""


def start(bot: Bot, launch: LaunchSettings) -> StartedBot:
    """Start a bot by its command and wait until it answers; StartError."""
    return StartedBot(bot, launch).ready_on_any_port()


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
