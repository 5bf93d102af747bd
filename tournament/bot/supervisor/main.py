"""The program that supervises one started bot: starts it, reads its output, and ends it.

When the control socket closes, as it does when the runner is killed, the supervisor ends the bot
and everything that the bot has started. If the supervisor dies, the kernel kills the bot.

The program's argument is the descriptor of the control socket, over which it receives packets. The
first packet is an `Order`. Every other packet requests a report. The request `C` also discards the
output so far. A report is a line of JSON followed by the end of the bot's output. The line is null
while the bot is running, its return code (negative for a signal) once it has ended, or a string
that says why the bot could not be started.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from tempfile import TemporaryDirectory
from typing import TypedDict

from tournament.bot.sandbox.folder_copy import (
    COPY,
    FolderToCopy,
    copies_folder,
    copy_folder,
    remove_copy,
)
from tournament.bot.supervisor.process_tree import (
    PR_SET_CHILD_SUBREAPER,
    PR_SET_PDEATHSIG,
    create_group,
    end_children,
    end_with_parent,
    kill_group,
    prctl,
    remove_group,
)

KEPT = 64 * 1024
CHUNK = 64 * 1024
FILE_SIZE = 1 << 30
_ORDER_SIZE = 1 << 20
_FIX = "install what is missing, or fix the command"
_ROOM = (
    'free some space, name a larger folder in TMPDIR, or set cards = "fresh" in [format], where'
    " nothing is copied"
)
_NO_NETWORK = (
    "install a bubblewrap that is not setuid root, or let bots use the network of the machine:"
    " --network, or network = true in [sandbox]"
)
_NS_GET_USERNS = 0xB701


class Order(TypedDict):
    """The first packet on the control socket, as JSON: how to start the bot.

    `sandbox` has the words that start a sandbox, or is empty for no sandbox. `filters` has the
    descriptors that occur in `sandbox`. `copied` is the folder to copy, or None. `copy` is the
    path of the copy, which replaces COPY in `sandbox`. `proxy` is the descriptor of the sandbox
    proxy's socket, or None. `argv`, `env` and `cwd` are the bot's command, environment and folder.
    `home` is the bot's HOME and TMPDIR, or None for a new temporary folder. `group` is the folder
    of the control group to create, or None, and `group_files` has the contents of the group's files
    by name. `memory_mb` is the limit on memory in MiB, and `files` the limit on open files.
    """

    sandbox: list[str]
    copied: FolderToCopy | None
    copy: str
    filters: list[int]
    proxy: int | None
    argv: list[str]
    env: dict[str, str]
    cwd: str
    home: str | None
    group: str | None
    group_files: dict[str, str]
    memory_mb: int
    files: int


class Supervisor:
    """A bot, the end of its output, and what must be removed when the bot ends."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.pipe, self.output = os.pipe()
        self.tail = bytearray()
        self.status: int | str | None = None
        self.group: str | None = None
        self.copy: str | None = None
        self.bot: subprocess.Popen[bytes] | None = None
        self.proxy = 0

    def start(self, order: Order, home: str) -> None:
        """Copy the bot's folder if ordered, start the bot, and fork the sandbox proxy if ordered.

        If the copy or the start fails, `status` says why. `home` is the bot's HOME and TMPDIR. The
        descriptors in the order are closed afterwards.
        """
        os.set_blocking(self.pipe, False)
        info, info_end = os.pipe()
        sandbox, proxy = order["sandbox"], order["proxy"]
        if proxy is not None:
            sandbox = [sandbox[0], "--info-fd", str(info_end), *sandbox[1:]]
        try:
            if order["copied"] is not None:
                self.copy = order["copy"]
                copy_folder(order["copied"], self.copy, self.control.fileno())
                sandbox = [self.copy if word == COPY else word for word in sandbox]
        except OSError as error:
            self.status = f"its folder cannot be copied to {copies_folder()} ({error}); {_ROOM}"
        else:
            self.run(order, home, sandbox, info_end)
        for descriptor in (self.output, info_end, *order["filters"]):
            os.close(descriptor)
        if proxy is not None:
            self.serve_sockets(info, proxy)
            os.close(proxy)
        os.close(info)

    def run(self, order: Order, home: str, sandbox: list[str], info: int) -> None:
        """Create the bot's control group if ordered, and start the bot's process.

        If that fails, `status` says why. `sandbox` has the words that start the sandbox. `info` is
        the descriptor to which bubblewrap writes the sandbox's pid if a proxy is ordered.
        """
        supervisor = os.getpid()
        try:
            if order["group"] is not None:
                self.group = order["group"]
                create_group(self.group, order["group_files"])
        except OSError as error:
            self.status = f"its control group {error.filename} cannot be made ({error.strerror})"
            return
        try:
            self.bot = subprocess.Popen(  # noqa: S603 - a bot
                [*sandbox, *order["argv"]],
                cwd=order["cwd"],
                env={**order["env"], "HOME": home, "TMPDIR": home},
                stdin=subprocess.DEVNULL,
                stdout=self.output,
                stderr=self.output,
                pass_fds=[*order["filters"], info],
                start_new_session=True,
                preexec_fn=lambda: _prepare(order, supervisor),
            )
        except OSError as error:
            why = error.strerror or str(error)
            if error.filename == order["cwd"]:
                why = f"its folder {order['cwd']} is not there ({why})"
            self.status = f"{why}; {_FIX}"
        except subprocess.SubprocessError as error:
            self.status = f"{error}; {_FIX}"

    def serve_sockets(self, info: int, proxy: int) -> None:
        """Wait until bubblewrap has written the sandbox's pid to `info`, then fork the proxy.

        If `info` ends without a pid, do nothing. `info` is the descriptor of a pipe, and `proxy`
        that of the proxy's socket.
        """
        data = b""
        while b"}" not in data:
            piece = os.read(info, 4096)
            if not piece:
                return
            data += piece
        self.proxy = os.fork()
        if self.proxy == 0:
            code = 0
            try:
                self.control.close()
                code = _run_proxy(json.loads(data)["child-pid"], socket.socket(fileno=proxy))
            finally:
                os._exit(code)

    def drain(self) -> bytes | None:
        """Append a piece of output to `tail`, which keeps at least the last 64 KiB.

        Return the piece, None if there is no output now, or b"" at its end. A pause after a full
        piece slows down a bot that floods its output.
        """
        try:
            chunk = os.read(self.pipe, CHUNK)
        except BlockingIOError:
            return None
        self.tail += chunk
        if len(self.tail) > 2 * KEPT:
            del self.tail[:-KEPT]
        if len(chunk) == CHUNK:
            time.sleep(0.002)  # throttle a bot that floods its output to about 30 MB/s
        return chunk

    def reap(self) -> None:
        """Collect the children that have ended. Set `status` if the bot is one of them, or if the
        proxy could not enter the network of the bot's sandbox."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                code = os.waitstatus_to_exitcode(ended[1])
                if self.bot is not None and ended[0] == self.bot.pid:
                    self.status = code
                elif ended[0] == self.proxy and code > 0 and self.status is None:
                    why = os.strerror(code)
                    self.status = f"its sandbox's network cannot be entered ({why}); {_NO_NETWORK}"

    def serve(self) -> None:
        """Collect output, reap children and answer requests, until the control socket closes.

        Raises:
            OSError: if the control socket closes during a report.
        """
        signal.signal(signal.SIGCHLD, lambda *_: self.reap())
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        poll.register(self.pipe, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == self.pipe:
                    if self.drain() == b"":
                        poll.unregister(self.pipe)
                elif request := self.control.recv(1):
                    self.report(request)
                else:
                    return

    def end(self) -> None:
        """Kill the bot and its descendants. Remove its control group and its folder's copy."""
        if self.group is not None:
            kill_group(self.group)
        end_children([self.bot.pid] if self.bot is not None and self.status is None else [])
        if self.group is not None:
            remove_group(self.group)
        if self.copy is not None:
            remove_copy(self.copy)

    def report(self, request: bytes) -> None:
        """Send the bot's status and the end of its output, which the request `C` discards first.

        Raises:
            OSError: if the runner has closed the control socket.
        """
        for _ in range(8):  # read what is there, but only a few pieces of a flood
            if not self.drain():
                break
        self.reap()
        head = json.dumps(self.status).encode()
        if request == b"C":
            self.tail.clear()
        self.control.sendall(head + b"\n" + self.tail[-KEPT:])


def _prepare(order: Order, supervisor: int) -> None:
    """Prepare this process, which is about to become the bot: make it end with the supervisor, join
    the bot's control group if there is one, and set its limits. `supervisor` is a pid."""
    end_with_parent(supervisor)
    if order["group"] is not None:
        with open(f"{order['group']}/cgroup.procs", "w") as file:
            file.write("0")
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


def _run_proxy(pid: int, control: socket.socket) -> int:
    """Pass out sockets in a sandbox's network. Run this in a process of its own.

    `pid` is the pid of a process in the sandbox. This process enters the sandbox's network, but
    stays invisible to the bot. For every byte on the socket `control`, it opens a TCP socket in the
    sandbox's network and passes that socket out, for the runner to connect. Returns 0 when
    `control` closes or if the sandbox has ended. If a namespace cannot be entered, returns the
    error's number at once.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
        owner = fcntl.ioctl(network, _NS_GET_USERNS)
    except FileNotFoundError:
        return 0
    except OSError as error:
        return error.errno or 1
    for namespace in (owner, network):
        if libc.setns(namespace, 0):
            return ctypes.get_errno()
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # not earlier: entering a namespace clears it
    while control.recv(1):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as inner:
            socket.send_fds(control, [b"S"], [inner.fileno()])
    return 0


def main() -> None:
    """Start a bot as ordered over the control socket. Once the socket closes, end the bot."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    control = socket.socket(fileno=int(sys.argv[1]))
    data = control.recv(_ORDER_SIZE)
    if not data:
        return
    order: Order = json.loads(data)
    supervisor = Supervisor(control)
    with TemporaryDirectory(prefix="stich-bot-", ignore_cleanup_errors=True) as private:
        try:
            supervisor.start(order, order["home"] or private)
            supervisor.serve()
        except OSError:
            pass  # the runner went away in the middle of a report
        finally:
            supervisor.end()
