"""The program that keeps one started bot: it starts it, drains what it writes, and ends it.

Run by path, with nothing of this project imported, as its own small process. It ends the bot
with everything that the bot has started as soon as its control socket closes, which happens
also when the runner is killed. The bot itself is killed by the kernel should the keeper go.

Its arguments are descriptors: the control socket, the two ends of the pipe for the bot's output,
16 bytes of shared memory, where it writes how many bytes it has drained and the bot's pid (so that
who has nothing to ask need not ask), and perhaps the door of a sandbox.

On the control socket it takes four bytes of length and then JSON, `{"prefix", "argv", "env", "cwd",
"memory_mb", "files"}`. The prefix wraps the command in a sandbox; in it `{home}` becomes the bot's
private folder and `{door}` the number of that descriptor. After that it takes single bytes, each
answered by four bytes of length and so many more:

- `T`: the end of the output;
- `M`: nothing; the output so far is forgotten;
- `S`: JSON, null while the bot runs, else its return code, negative for a signal, or text: why it
  could not be started;
- `P`: JSON, whether it is the bot that listens at its port.
"""

from __future__ import annotations

import ctypes
import errno
import json
import mmap
import os
import resource
import select
import signal
import socket
import sys
import tempfile
import time

TYPE_CHECKING = False  # typing itself takes longer to import than all the rest
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

KEPT = 64 * 1024
CHUNK = 64 * 1024
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
FILE_SIZE = 1 << 30
BUSY = b"\xff" * 8
_MUTE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


class Keeper:
    """One bot and its output."""

    def __init__(self, control: socket.socket, pipe: int, shared: int) -> None:
        self.control = control
        self.pipe = pipe
        self.shared = mmap.mmap(shared, 16)
        self.drained = 0
        self.tail = bytearray()
        self.ended: int | str | None = None
        self.pid = 0
        self.port = 0

    def start(self, order: dict[str, Any], home: str, write: int, door: int | None) -> None:
        """Fork the bot; `ended` says why if it cannot be."""
        self.port = int(order["env"]["PORT"])
        os.set_blocking(self.pipe, False)
        told, tell = os.pipe()
        keeper = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                _become(order, home, write, door, keeper)
            except (OSError, ValueError) as error:
                os.write(tell, (getattr(error, "strerror", None) or str(error)).encode())
            finally:
                os._exit(127)
        os.close(write)
        os.close(tell)
        why = os.read(told, 1000)
        os.close(told)
        if door is not None:
            os.close(door)
        self.shared[8:] = self.pid.to_bytes(8, "little")
        if why:
            self.ended = why.decode()

    def drain(self) -> bool:
        """Take what the bot has written; False when nothing more can come."""
        self.shared[:8] = BUSY
        try:
            chunk = os.read(self.pipe, CHUNK)
        except BlockingIOError:
            return True
        else:
            self.tail += chunk
            self.drained += len(chunk)
        finally:
            self.shared[:8] = self.drained.to_bytes(8, "little")
        if not chunk:
            return False
        if len(self.tail) > 2 * KEPT:
            del self.tail[:-KEPT]
        if len(chunk) == CHUNK:
            time.sleep(0.002)  # who floods waits: at most some 30 MB a second
        return True

    def reap(self) -> None:
        """Collect the dead: the bot, and orphans of its children."""
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
        """Kill the bot and all its descendants; orphans become children of the keeper."""
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
        """Obey until the control socket closes."""
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
                elif not self.obey(self.control.recv(1)):
                    return

    def obey(self, order: bytes) -> bool:
        """Carry out one order; False at the end."""
        if order in (b"T", b"M"):
            for _ in range(8):
                before = len(self.tail)
                if not self.drain() or len(self.tail) == before:
                    break
        if order == b"T":
            self.say(bytes(self.tail[-KEPT:]))
        elif order == b"M":
            self.tail.clear()
            self.say(b"")
        elif order == b"S":
            self.reap()
            self.say(json.dumps(self.ended).encode())
        elif order == b"P":
            self.say(json.dumps(_listens(self.port, _descendants(os.getpid()))).encode())
        return bool(order)

    def say(self, data: bytes) -> None:
        """Answer."""
        self.control.sendall(len(data).to_bytes(4, "big") + data)


def _become(order: dict[str, Any], home: str, write: int, door: int | None, keeper: int) -> None:
    """In the child: give up what is the keeper's, take the limits, run the bot."""
    for number in _MUTE:
        signal.signal(number, signal.SIG_DFL)
    os.setsid()
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != keeper:
        os._exit(127)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (write, 1), (write, 2)):
        os.dup2(source, target)
    # Writable private memory, not address space: virtual machines reserve far more than they use.
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
    os.chdir(order["cwd"])
    argv = list(order["argv"])
    if door is not None:
        os.set_inheritable(door, True)
        filled = {"{home}": home, "{door}": str(door)}
        argv = [filled.get(word, word) for word in order["prefix"]] + argv
    os.execvpe(argv[0], argv, {**order["env"], "HOME": home, "TMPDIR": home})  # noqa: S606 - no shell is meant


def _exactly(control: socket.socket, size: int) -> bytes:
    """So many bytes; none when the runner is gone."""
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
    """Remove a folder with all that a bot has put in it."""
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
    """Keep one bot."""
    for number in _MUTE:
        signal.signal(number, signal.SIG_IGN)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    # Should a bot have stopped it, it goes on when the runner is gone, and finds the socket closed.
    _prctl(PR_SET_PDEATHSIG, signal.SIGCONT)
    descriptors = [int(word) for word in sys.argv[1:]]
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    first, read, write, shared, *doors = descriptors
    control = socket.socket(fileno=first)
    order = _exactly(control, int.from_bytes(_exactly(control, 4), "big"))
    if not order:
        return
    home = tempfile.mkdtemp(prefix="stich-bot-")
    keeper = Keeper(control, read, shared)
    try:
        keeper.start(json.loads(order), home, write, doors[0] if doors else None)
        keeper.serve()
    except OSError:
        pass  # the runner is gone in the middle of an answer
    finally:
        keeper.end()
        _remove(home)


if __name__ == "__main__":
    main()
