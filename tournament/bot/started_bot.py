"""Bots that the runner starts, each process with its own port and its own supervisor."""

import json
import os
import random
import secrets
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import partial
from threading import Lock
from time import monotonic, sleep
from typing import Self

from tournament.bot.about import read_about
from tournament.bot.client import (
    Busy,
    ConnectionLost,
    ExchangeError,
    TooLate,
    dial_through,
    dial_url,
)
from tournament.bot.launch import LaunchSettings, environment, program_problem
from tournament.bot.protocol import InvalidAnswer
from tournament.bot.sandbox import seccomp
from tournament.bot.sandbox.bubblewrap import SANDBOX_HOME, bot_folder
from tournament.bot.sandbox.control_group import group_files
from tournament.bot.sandbox.folder_copy import copies_folder, remove_copy
from tournament.bot.start_causes import FailedStart, start_fix
from tournament.bot.supervisor.main import Order
from tournament.bot.supervisor.process_tree import kill_group, memory_mb, remove_group
from tournament.bot.url_bot import HttpBot, StartError, reach_url
from tournament.config.cup import Bot, is_reference
from tournament.paths import CHECKOUT

_SUPERVISOR = (
    f"import sys; sys.path.append({str(CHECKOUT)!r}); "
    "from tournament.bot.supervisor.main import main; main()"
)
_ANSWER_S = 2.0  # for an answer from a supervisor, which needs a moment
_REPORT_SIZE = 1 << 17
_COPY_S = 300.0
_END_S = 5.0  # until a supervisor has ended all its processes, which takes a moment
_GONE = "its supervisor is gone"
_PORTS = (10_000, 32_000)  # below the ports that the system gives to outgoing connections
_PAUSE_S = 0.01
_LAST_TRY_S = 1.0


class BotProcess:
    """The process of a started bot, under its supervisor. Thread-safe.

    The process is ended by `close`, when the runner ends, or if the supervisor does not answer a
    request within 2 seconds, or within `start_ms` if that is longer. `proxy` is a socket to the
    proxy in the sandbox's network (see `dial_through`), or None if the machine's network is used.
    """

    def __init__(self, bot: Bot, env: Mapping[str, str], launch: LaunchSettings) -> None:
        """Start the supervisor, which then starts the bot. Wait for neither.

        `env` is the bot's whole environment, except HOME and TMPDIR.

        Raises:
            OSError: if the supervisor cannot be started, or the seccomp filter cannot be made.
        """
        limits = launch.limits
        self._lock = Lock()
        self._group = launch.group and os.path.join(launch.group, f"bot-{secrets.token_hex(4)}")
        self._control, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._answer_s = max(_ANSWER_S, launch.start_ms / 1000)
        self.proxy: socket.socket | None = None
        sandbox = None if launch.sandboxes is None else launch.sandboxes[bot.name]
        self._copied = None if sandbox is None else sandbox.copied
        self._copy = os.path.join(copies_folder(), f"stich-copy-{secrets.token_hex(8)}")
        words, inner_proxy = [], None
        filters: list[int] = []
        with ExitStack() as stack:
            passed = [stack.enter_context(control).fileno()]
            if sandbox is not None:
                filters = [stack.enter_context(seccomp.opened())]
                words = sandbox.of_process(filters[0], self._copy)
                if not launch.network:
                    self.proxy, inner = socket.socketpair()
                    inner_proxy = stack.enter_context(inner).fileno()
                    passed.append(inner_proxy)
            self._supervisor = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-I", "-S", "-c", _SUPERVISOR, str(control.fileno())],
                pass_fds=[*passed, *filters],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        order: Order = {
            "sandbox": words,
            "copied": self._copied,
            "copy": self._copy,
            "filters": filters,
            "proxy": inner_proxy,
            "argv": shlex.split(str(bot.command)),
            "env": dict(env),
            "cwd": str(bot_folder(bot, launch.folder)),
            "home": SANDBOX_HOME if words else None,
            "group": self._group,
            "group_files": group_files(limits),
            "memory_mb": limits.memory_mb,
            "files": limits.files,
        }
        self._control.sendall(json.dumps(order).encode("ascii"))

    def wait_for_copy(self) -> bool:
        """Wait until the bot's folder has been copied or `status` says why not, and return True. If
        this takes more than 5 minutes, end the bot. Return False at once if nothing is copied."""
        if self._copied:
            self._report(seconds=_COPY_S)
        return bool(self._copied)

    def status(self) -> int | str | None:
        """Return None while the bot is running, its return code (negative for a signal) once it has
        ended, or a clause that says why it did not start or that its supervisor is gone."""
        return self._report()[0]

    def output(self) -> str:
        """Return the last 64 KiB of the bot's output since the last `clear_output`, or "" if the
        supervisor is gone."""
        return self._report()[1]

    def clear_output(self) -> bool:
        """Discard the bot's output so far. Return whether the bot is running."""
        return self._report(b"C")[0] is None

    def memory_mb(self) -> float:
        """Return the unshared memory of the bot, its supervisor and its sandbox together, in MiB,
        or 0 if they have ended."""
        return memory_mb(self._supervisor.pid)

    def close(self) -> None:
        """End the bot and everything that it has started. If its supervisor takes more than 5
        seconds for that, kill the supervisor. A second call does nothing."""
        self._control.close()
        if self.proxy is not None:
            self.proxy.close()
        self._supervisor.send_signal(signal.SIGCONT)  # outside a sandbox, a bot can stop it
        try:
            self._supervisor.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            self._supervisor.wait()
        if self._supervisor.returncode:  # it has been killed, and has not removed anything
            if self._group is not None:
                kill_group(self._group)
                remove_group(self._group)
            if self._copied:
                remove_copy(self._copy)

    def _report(
        self, request: bytes = b"R", seconds: float | None = None
    ) -> tuple[int | str | None, str]:
        """Return the bot's status and output. The request b"C" also discards the output. If the
        supervisor is gone or does not answer within `seconds` (see the class for the default), end
        the bot, and return the clause that its supervisor is gone, and ""."""
        with suppress(OSError), self._lock:
            self._control.settimeout(seconds or self._answer_s)
            self._control.sendall(request)
            if packet := self._control.recv(_REPORT_SIZE):
                head, _, output = packet.partition(b"\n")
                return json.loads(head), output.decode("utf-8", "backslashreplace")
        # A late answer would be taken for the answer to the next request.
        self._control.close()
        return _GONE, ""


class StartedBot(HttpBot):
    """A bot that the runner has started. Once `ready` has succeeded, `answered` is true, and
    `about` has the fields of the answer to GET /, or is empty if the answer does not conform to the
    protocol."""

    def __init__(self, bot: Bot, launch: LaunchSettings) -> None:
        """Start the bot with its command, without waiting for it.

        Raises:
            StartError: if no port is free, or the machine cannot start another process.
        """
        command = str(bot.command)
        self._who = f'"{command}" ' if bot.name == command else f'{bot.name}: "{command}" '
        self._argv = shlex.split(command)
        self._folder = bot_folder(bot, launch.folder)
        self._bot, self._launch = bot, launch
        self._spawn()

    def _spawn(self) -> None:
        self.about: Mapping[str, object] = {}
        self.answered = False
        self._began = monotonic()
        secrets_for_bots = {} if is_reference(self._bot) else self._launch.env
        try:
            self._reserved, self._port = _reserved_port()
            env = {**environment(self._argv, self._port), **secrets_for_bots, **self._bot.env}
            self.process = BotProcess(self._bot, env, self._launch)
        except OSError as error:  # the machine has too few processes or open files left
            raise StartError(f"{self._who}cannot be started: {error.strerror or error}.") from error
        url, proxy = f"http://127.0.0.1:{self._port}", self.process.proxy
        inside = proxy and partial(dial_through, proxy, ("127.0.0.1", self._port))
        super().__init__(url, inside or dial_url(url))

    def ready(self) -> Self:
        """Wait until the bot has answered GET / completely and is not busy. Return the bot.

        The content of the answer does not matter. `start_ms` counts from the bot's start, or from
        when its folder has been copied, but each attempt gets at least a second. After an error,
        the bot has ended.

        Raises:
            StartError: if the bot cannot be started or ends, if its answer is too large or not
                HTTP, or if no complete answer comes in time.
        """
        try:
            if self.process.wait_for_copy():  # the time for the copy does not count
                self._began = monotonic()
            deadline = self._began + self._launch.start_ms / 1000
            while not self._answers(deadline):
                if monotonic() >= deadline:
                    raise self._late()
                sleep(_PAUSE_S)
        except BaseException:
            self.close()
            raise
        self.answered = True
        return self

    def restart(self) -> None:
        """End the bot and start it again, which replaces `process`, `url` and `dial`. Wait until
        the bot is `ready`.

        Raises:
            StartError: if no port is free, the machine cannot start another process, or `ready`
                fails. The bot has then ended.
        """
        self.close()
        self._spawn()
        self.ready()

    def _answers(self, deadline: float) -> bool:
        status = self.process.status()
        if status is not None:
            raise self._ended(status)
        try:
            # The deadline may have passed while the runner waited for other bots.
            seconds = max(deadline - monotonic(), _LAST_TRY_S)
            self.about = read_about(self.send("/", b"", seconds))
        except InvalidAnswer:
            pass  # the bot answers, and `about` is only for display
        except (ConnectionLost, TooLate, Busy):
            return False
        except ExchangeError as error:
            raise StartError(f"{self._bot.name}: GET / has no usable answer: {error}") from None
        return self.running

    @property
    def running(self) -> bool:
        """Whether the bot's process is running."""
        return self.process.status() is None

    def output(self) -> str:
        """Return the last 64 KiB of output in this match, or "" if the supervisor is gone."""
        return self.process.output()

    def close(self) -> None:
        """End the bot and everything that it has started (see `BotProcess.close`)."""
        super().close()
        self.process.close()
        self._reserved.close()

    def _ended(self, status: int | str) -> StartError:
        fix = self._fix(127 if isinstance(status, str) else status)
        # A sandbox that has started does not say what is missing.
        known = fix or not self._folder.is_dir()
        if problem := "" if known else program_problem(self._argv, self._folder):
            return StartError(f"{self._who}cannot be started: {problem}", problem)
        if isinstance(status, str):
            return StartError(f"{self._who}cannot be started: {status}.", fix)
        how = f"was killed by signal {-status}" if status < 0 else f"ended with code {status}"
        sees = ""
        if not fix and self._launch.sandboxes is not None and not is_reference(self._bot):
            sees = (
                f" In the sandbox it sees the programs of the system and {self._folder}; if its"
                " files are elsewhere, make that folder its dir, or start it there."
            )
        text = f"{self._who}{how} before it answered GET /.{sees}{self.last_line()}"
        return StartError(text, fix)

    def _late(self) -> StartError:
        within = f"within {self._launch.start_ms} ms"
        if self.received:
            return StartError(
                f"{self._who}began to answer GET /, but the end of its answer did not come"
                f" {within}.{self.last_line()}",
                "Send Content-Length, or close the connection.",
            )
        return StartError(
            f"{self._who}did not answer GET / on 127.0.0.1:{self._port} {within}; it must listen at"
            f" the port in PORT.{self.last_line()}",
            self._fix(None),
        )

    def _fix(self, status: int | None) -> str:
        return start_fix(
            FailedStart(self.output(), self._argv, self._folder, self._port, status, self._launch)
        )


def start(bot: Bot, launch: LaunchSettings) -> StartedBot:
    """Start a bot that has a command, and wait until it is ready.

    Raises:
        StartError: if the bot cannot be started, ends, or gives no usable answer in time.
    """
    return StartedBot(bot, launch).ready()


def _reserved_port() -> tuple[socket.socket, int]:
    """Return a UDP socket, and the free port on 127.0.0.1 that this socket keeps from other bots
    until it is closed. The bot itself binds the port for TCP.

    Raises:
        StartError: if no port is free.
        OSError: if this process cannot open another socket.
    """
    for _ in range(100):
        port = random.SystemRandom().randrange(*_PORTS)
        reserved = socket.socket(type=socket.SOCK_DGRAM)
        with socket.socket() as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            reserved.bind(("127.0.0.1", port))
            probe.bind(("127.0.0.1", port))
            return reserved, port
        reserved.close()
    raise StartError("No free port was found between {} and {}.".format(*_PORTS))


def reach(bot: Bot, launch: LaunchSettings) -> HttpBot:
    """Return a bot, which the caller must close. If it has a command, start it and wait until it is
    ready. If it has a URL, check that the URL accepts connections.

    Raises:
        StartError: if the bot does not start, or nothing accepts connections at its URL.
    """
    return start(bot, launch) if bot.url is None else reach_url(bot)
