"""Bots that the runner starts, each on a port of its own, through a supervisor of its own."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import random
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from threading import Lock
from time import monotonic, sleep
from typing import Any

from tournament.bot.client import (
    ConnectionLost,
    Dial,
    ProtocolError,
    ResponseTooLarge,
    dial_inet,
    dial_through,
)
from tournament.bot.launch import LaunchSettings, environment, program_problem
from tournament.bot.protocol import about_or_empty
from tournament.bot.sandbox import seccomp
from tournament.bot.sandbox.bubblewrap import SANDBOX_HOME, bot_folder
from tournament.bot.sandbox.control_group import group_files, new_group
from tournament.bot.supervisor import groups
from tournament.bot.supervisor.process_tree import memory_mb
from tournament.bot.url_bot import HttpBot, StartError, reach_url
from tournament.config import Bot, is_reference
from tournament.paths import CHECKOUT
from tournament.text import printable

_SUPERVISOR = (
    f"import sys; sys.path.append({str(CHECKOUT)!r}); "
    "from tournament.bot.supervisor.main import main; main()"
)
_ANSWER_S = 2.0  # a supervisor answers at once
_END_S = 5.0  # and ends all its processes at once
_GONE = "its supervisor is gone"
_PORTS = (10_000, 32_000)  # below the ports that the system gives to outgoing connections
_PAUSE_S = 0.01
_LAST_TRY_S = 1.0
_TRIES = 3


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


def reach(bot: Bot, launch: LaunchSettings) -> HttpBot:
    """Start a bot by its command, or connect once to its URL; StartError, NotReached."""
    return start(bot, launch) if bot.url is None else reach_url(bot, bot.url)


class RestartableBot:
    """A bot by command, which can be started again, or by URL. StartError if it is not there."""

    def __init__(self, bot: Bot, launch: LaunchSettings) -> None:
        self._bot = bot
        self._launch = launch
        self.player = reach(bot, launch)

    @property
    def started(self) -> StartedBot | None:
        """The bot if it was started here."""
        return self.player if isinstance(self.player, StartedBot) else None

    def restart(self) -> None:
        """Start it again if it was started here; StartError."""
        if self.started is not None:
            self.player.close()
            self.player = start(self._bot, self._launch)

    def output(self) -> str:
        """The end of what it has written; empty if that cannot be seen."""
        return self.player.output()

    def close(self) -> None:
        """Drop the connection, and end what was started here."""
        self.player.close()
