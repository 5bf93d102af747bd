"""The program that supervises one started bot: it starts it, reads its output, and ends it.

It is run by path as a small process of its own and imports nothing of this project. When its
control socket closes, which also happens when the runner is killed, it ends the bot with
everything that the bot has started. If the supervisor itself dies, the kernel kills the bot.

Its arguments are descriptors: its control socket, and the control socket of the sandbox proxy if
there is a sandbox.

On the control socket it receives four bytes of length and then JSON, `{"prefix", "argv", "env",
"cwd", "memory_mb", "files"}`. The prefix wraps the command in a sandbox; in it `{home}` becomes the
bot's private folder, `{cwd}` the folder it runs in, and `{proxy}` the number of the proxy's
descriptor. It answers with the bot's pid, and then receives commands of one byte. Every answer is
four bytes of length and so many more:

- `O`: the end of the output;
- `W`: how many bytes were written so far, JSON;
- `S`: null while the bot runs, else its return code (negative for a signal), or text that says why
  it could not be started, JSON;
- `C`: the same, and the output so far is forgotten;
- `P`: whether it is the bot that listens at its port, JSON.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import select
import signal
import socket
import sys
import tempfile
import time

TYPE_CHECKING = False  # importing typing takes longer than everything else
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

KEPT = 64 * 1024
CHUNK = 64 * 1024
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
FILE_SIZE = 1 << 30
_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


class Supervisor:
    """One bot and its output."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.pipe = -1
        self.written = 0
        self.tail = bytearray()
        self.ended: int | str | None = None
        self.pid = 0
        self.port = 0

    def start(self, order: dict[str, Any], home: str, proxy: int | None) -> None:
        """Fork the bot and answer with its pid; `ended` says why if it cannot be started."""
        self.port = int(order["env"]["PORT"])
        self.pipe, output = os.pipe()
        os.set_blocking(self.pipe, False)
        problem, report = os.pipe()
        supervisor = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                _run_bot(order, home, output, proxy, supervisor)
            except (OSError, ValueError) as error:
                os.write(report, (getattr(error, "strerror", None) or str(error)).encode())
            finally:
                os._exit(127)
        os.close(output)
        os.close(report)
        why = os.read(problem, 1000)
        os.close(problem)
        if proxy is not None:
            os.close(proxy)
        if why:
            self.ended = why.decode()
        self.answer(json.dumps(self.pid).encode())

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
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.pid and self.ended is None:
                self.ended = os.waitstatus_to_exitcode(status)

    def end(self) -> None:
        """Kill the bot and all its descendants; orphans become children of the supervisor."""
        for _ in range(1000):
            bot = [self.pid] if self.pid and self.ended is None else []
            for pid in {*bot, *_children(os.getpid())}:
                for kill in (os.killpg, os.kill):
                    try:
                        kill(pid, signal.SIGKILL)
                    except OSError:
                        continue
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                return
            time.sleep(0.001)

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
        if command == b"P":
            return json.dumps(_listens(self.port, _descendants(os.getpid()))).encode()
        if command in (b"O", b"W", b"C"):
            self.drain_all()
        if command == b"O":
            return bytes(self.tail[-KEPT:])
        if command == b"W":
            return json.dumps(self.written).encode()
        if command == b"C":
            self.tail.clear()
        self.reap()
        return json.dumps(self.ended).encode()

    def answer(self, data: bytes) -> None:
        """Send an answer."""
        self.control.sendall(len(data).to_bytes(4, "big") + data)


def _run_bot(
    order: dict[str, Any], home: str, output: int, proxy: int | None, supervisor: int
) -> None:
    """In the child: undo what only the supervisor needs, set the limits, run the bot."""
    for number in _IGNORED:
        signal.signal(number, signal.SIG_DFL)
    os.setsid()
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != supervisor:
        os._exit(127)
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
    argv = list(order["argv"])
    if proxy is not None:
        os.set_inheritable(proxy, True)
        filled = {"{home}": home, "{cwd}": order["cwd"], "{proxy}": str(proxy)}
        argv = [filled.get(word, word) for word in order["prefix"]] + argv
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


def _children(pid: int) -> list[int]:
    """The pids of a process's children."""
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                found += [int(child) for child in file.read().split()]
    except OSError:
        return found
    return found


def _descendants(pid: int) -> list[int]:
    """The pids of a process's children, their children and so on."""
    found = _children(pid)
    for child in found:
        found += _children(child)
    return found


def _listens(port: int, pids: list[int]) -> bool:
    """Whether one of these processes listens at a port of this machine."""
    wanted = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table) as file:
                rows = [line.split() for line in file.readlines()[1:]]
        except OSError:
            continue
        for row in rows:
            if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port:
                wanted.add(f"socket:[{row[9]}]")
    for pid in pids:
        try:
            for name in os.listdir(f"/proc/{pid}/fd"):
                if os.readlink(f"/proc/{pid}/fd/{name}") in wanted:
                    return True
        except OSError:
            continue
    return False


def _remove(folder: str) -> None:
    """Remove a folder with everything that a bot has put into it."""
    for path, folders, files in os.walk(folder, topdown=False):
        for name in files:
            _quietly(os.unlink, os.path.join(path, name))
        for name in folders:
            inner = os.path.join(path, name)
            _quietly(os.unlink if os.path.islink(inner) else os.rmdir, inner)
    _quietly(os.rmdir, folder)


def _quietly(remove: Callable[[str], None], path: str) -> None:
    try:
        remove(path)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.EACCES, errno.EPERM):
            raise


def main() -> None:
    """Supervise one bot."""
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    # If a bot has stopped this process, it resumes when the runner dies, and finds the socket
    # closed.
    _prctl(PR_SET_PDEATHSIG, signal.SIGCONT)
    descriptors = [int(word) for word in sys.argv[1:]]
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    control = socket.socket(fileno=descriptors[0])
    order = _exactly(control, int.from_bytes(_exactly(control, 4), "big"))
    if not order:
        return
    home = tempfile.mkdtemp(prefix="stich-bot-")
    supervisor = Supervisor(control)
    try:
        supervisor.start(json.loads(order), home, descriptors[1] if descriptors[1:] else None)
        supervisor.serve()
    except OSError:
        pass  # the runner went away in the middle of an answer
    finally:
        supervisor.end()
        _remove(home)


if __name__ == "__main__":
    main()
