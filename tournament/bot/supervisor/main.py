"""The program that supervises one started bot: it starts it, reads its output, and ends it.

It is a small process of its own and imports little, so that it starts quickly. When its control
socket closes, which also happens when the runner is killed, it ends the bot with
everything that the bot has started. If the supervisor itself dies, the kernel kills the bot.

Its arguments are descriptors: its control socket, and with a sandbox the control socket of the
sandbox proxy and the seccomp filter.

On the control socket it receives four bytes of length and then JSON, `{"sandbox", "argv", "env",
"cwd", "home", "group", "memory_mb", "files"}`. `sandbox` has the words that start a sandbox, or
none; `home` is the bot's private folder if it need not be created; `group` is null or has the
`folder` of a control group to create, and what to write to its `files`. It answers with the bot's
pid, and then receives commands of one byte. Every answer is four bytes of length and so many more:

- `O`: the end of the output;
- `W`: how many bytes were written so far, JSON;
- `S`: null while the bot runs, else its return code (negative for a signal), or text that says why
  it could not be started, JSON;
- `C`: the same, and the output so far is forgotten.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import socket
import sys
import tempfile
import time

from tournament.bot.supervisor import groups
from tournament.bot.supervisor.process_tree import (
    PR_SET_CHILD_SUBREAPER,
    end_children,
    end_with_parent,
    prctl,
)
from tournament.bot.supervisor.sandbox_proxy import run_proxy

TYPE_CHECKING = False  # importing typing takes longer than everything else
if TYPE_CHECKING:
    from typing import Any

KEPT = 64 * 1024
CHUNK = 64 * 1024
FILE_SIZE = 1 << 30
_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)


class Supervisor:
    """One bot and its output."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.pipe = -1
        self.written = 0
        self.tail = bytearray()
        self.ended: int | str | None = None
        self.pid = 0
        self.group: str | None = None

    def start(self, order: dict[str, Any], home: str, descriptors: list[int]) -> None:
        """Fork the bot and answer with its pid; `ended` says why if it cannot be started."""
        self.pipe, output = os.pipe()
        info, told = os.pipe()
        os.set_blocking(self.pipe, False)
        problem, report = os.pipe()
        supervisor = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                _run_bot(order, home, output, (*descriptors, told), supervisor)
            except (OSError, ValueError) as error:
                os.write(report, (getattr(error, "strerror", None) or str(error)).encode())
            finally:
                os._exit(127)
        for descriptor in (output, report, told):
            os.close(descriptor)
        why = os.read(problem, 1000)
        os.close(problem)
        if why:
            self.ended = why.decode()
        elif descriptors:
            self.serve_sockets(info, descriptors[0])
        for descriptor in (info, *descriptors):
            os.close(descriptor)
        self.answer(json.dumps(self.pid).encode())

    def serve_sockets(self, info: int, control: int) -> None:
        """Fork the sandbox proxy, once bubblewrap has told the pid of the sandbox."""
        told = b""
        while b"}" not in told:
            piece = os.read(info, 4096)
            if not piece:
                return
            told += piece
        if os.fork() == 0:
            try:
                self.control.close()
                run_proxy(json.loads(told)["child-pid"], socket.socket(fileno=control))
            finally:
                os._exit(0)

    def create_group(self, group: dict[str, Any]) -> None:
        """Create the control group of the bot."""
        self.group = group["folder"]
        groups.create(group["folder"], group["files"])

    def drain(self) -> bool:
        """Read a piece of what the bot has written; False if nothing more can come."""
        try:
            chunk = os.read(self.pipe, CHUNK)
        except BlockingIOError:
            return True
        self.tail += chunk
        self.written += len(chunk)
        if len(self.tail) > 2 * KEPT:
            del self.tail[:-KEPT]
        if len(chunk) == CHUNK:
            time.sleep(0.002)  # throttle a bot that floods its output to about 30 MB/s
        return bool(chunk)

    def drain_all(self) -> None:
        """Read what the bot has written by now, but no more than a few pieces."""
        for _ in range(8):
            before = self.written
            self.drain()
            if self.written == before:
                return

    def reap(self) -> None:
        """Collect processes that have ended: the bot, and orphans of its children."""
        while True:
            try:
                found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG)
            except ChildProcessError:
                return
            if found is None:
                return
            if found.si_pid == self.pid and self.ended is None:
                code = found.si_status
                self.ended = code if found.si_code == os.CLD_EXITED else -code

    def end(self) -> None:
        """Kill the bot and all its descendants; orphans become children of the supervisor."""
        if self.group is not None:
            groups.kill(self.group)
        end_children([self.pid] if self.pid and self.ended is None else [])
        if self.group is not None:
            groups.remove(self.group)

    def serve(self) -> None:
        """Carry out commands until the control socket closes."""
        wake, woken = socket.socketpair()
        wake.setblocking(False)
        woken.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(woken.fileno())
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        poll.register(wake, select.POLLIN)
        poll.register(self.pipe, select.POLLIN)
        self.reap()
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == self.pipe:
                    if not self.drain():
                        poll.unregister(self.pipe)
                elif descriptor == wake.fileno():
                    wake.recv(4096)
                    self.reap()
                else:
                    command = self.control.recv(1)
                    if not command:
                        return
                    self.answer(self.carry_out(command))

    def carry_out(self, command: bytes) -> bytes:
        """Carry out a command; its answer."""
        if command in (b"O", b"W", b"C"):
            self.drain_all()
        if command == b"O":
            return bytes(self.tail[-KEPT:])
        if command == b"W":
            return json.dumps(self.written).encode()
        self.reap()
        if command == b"C":
            self.tail.clear()
        return json.dumps(self.ended).encode()

    def answer(self, data: bytes) -> None:
        """Send an answer."""
        self.control.sendall(len(data).to_bytes(4, "big") + data)


def _run_bot(
    order: dict[str, Any],
    home: str,
    output: int,
    descriptors: tuple[int, ...],
    supervisor: int,
) -> None:
    """In the child: undo what only the supervisor needs, set the limits, run the bot."""
    for number in _IGNORED:
        signal.signal(number, signal.SIG_DFL)
    os.setsid()
    end_with_parent(supervisor)
    if order["group"] is not None:
        with open(f"{order['group']['folder']}/cgroup.procs", "w") as file:
            file.write("0")
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    # Limit writable private memory, not address space, of which virtual machines reserve far more
    # than they use.
    for limit, value in (
        (resource.RLIMIT_DATA, order["memory_mb"] << 20),
        (resource.RLIMIT_NOFILE, order["files"]),
        (resource.RLIMIT_FSIZE, FILE_SIZE),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(limit)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(limit, (value, value))
    try:
        os.chdir(order["cwd"])
    except OSError as error:
        raise ValueError(f"its folder {order['cwd']} is not there ({error.strerror})") from None
    argv = order["argv"]
    if order["sandbox"]:
        *_, told = descriptors
        options = ["--info-fd", str(told)]
        for filter_ in descriptors[1:-1]:
            options += ["--seccomp", str(filter_)]
        for descriptor in descriptors[1:]:
            os.set_inheritable(descriptor, True)
        bwrap, *words = order["sandbox"]
        argv = [bwrap, *options, *words, *argv]
    os.execvpe(argv[0], argv, {**order["env"], "HOME": home, "TMPDIR": home})  # noqa: S606 - no shell is meant


def _exactly(control: socket.socket, size: int) -> bytes:
    """So many bytes; none if the runner is gone."""
    data = b""
    while len(data) < size:
        more = control.recv(size - len(data))
        if not more:
            return b""
        data += more
    return data


def main() -> None:
    """Supervise one bot."""
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    control, *descriptors = [int(word) for word in sys.argv[1:]]
    for descriptor in (control, *descriptors):
        os.set_inheritable(descriptor, False)
    runner = socket.socket(fileno=control)
    data = _exactly(runner, int.from_bytes(_exactly(runner, 4), "big"))
    if not data:
        return
    order = json.loads(data)
    supervisor = Supervisor(runner)
    private = tempfile.TemporaryDirectory(prefix="stich-bot-", ignore_cleanup_errors=True)
    home = order["home"] or private.name
    try:
        if order["group"] is not None:
            supervisor.create_group(order["group"])
        supervisor.start(order, home, descriptors)
        supervisor.serve()
    except OSError:
        pass  # the runner went away in the middle of an answer
    finally:
        supervisor.end()
        private.cleanup()
