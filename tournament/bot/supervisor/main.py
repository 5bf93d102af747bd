"""The program that supervises one started bot: starts it, reads its output, and ends it.

When the control socket closes, as it does when the runner is killed, the supervisor ends the bot
and everything that the bot has started. If the supervisor dies, the kernel kills the bot.

The program's argument is the descriptor of the control socket. The first packet is an `Order`, and
every other packet requests a report: a line of JSON and the end of the bot's output. The line is
null while the bot is running, its return code (negative for a signal) once it has ended, or a
string that says why it could not be started. The request `C` also discards the output so far.
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

from tournament.bot.sandbox.folder_copy import FolderToCopy, copies_folder, copy_folder, remove_copy
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

_KEPT = 64 * 1024
_CHUNK = 64 * 1024
_FILE_SIZE = 1 << 30
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
    """The first packet on the control socket, as JSON: how to start the bot."""

    sandbox: list[str]  # the words that start a sandbox, if there is one
    filters: list[int]  # the descriptors in these words
    copied: FolderToCopy | None
    copy: str  # the path of its copy
    proxy: int | None  # the descriptor of the sandbox proxy's socket
    argv: list[str]
    env: dict[str, str]
    cwd: str
    home: str | None  # HOME and TMPDIR, or None for a new temporary folder
    group: str | None  # the folder of the control group to create
    group_files: dict[str, str]  # contents by name
    memory_mb: int
    files: int


class _Supervisor:
    def __init__(self, control: socket.socket, order: Order) -> None:
        self.control = control
        self.order = order
        self.pipe, self.output = os.pipe()
        self.tail = bytearray()
        self.status: int | str | None = None
        self.bot: subprocess.Popen[bytes] | None = None
        self.proxy = 0

    def start(self, home: str) -> None:
        """Start the bot, with `home` as HOME and TMPDIR. If the order says so, copy the bot's
        folder first, and fork the sandbox's proxy afterwards. If the copy or the start fails,
        `status` says why. Close the order's descriptors."""
        os.set_blocking(self.pipe, False)
        info, info_end = os.pipe()
        order = self.order
        sandbox, proxy = order["sandbox"], order["proxy"]
        if proxy is not None:
            sandbox = [sandbox[0], "--info-fd", str(info_end), *sandbox[1:]]
        try:
            if order["copied"] is not None:
                copy_folder(order["copied"], order["copy"], self.control.fileno())
        except OSError as error:
            self.status = f"its folder cannot be copied to {copies_folder()} ({error}); {_ROOM}"
        else:
            self.run(home, sandbox, info_end)
        for descriptor in (self.output, info_end, *order["filters"]):
            os.close(descriptor)
        if proxy is not None:
            self.serve_sockets(info, proxy)
            os.close(proxy)
        os.close(info)

    def run(self, home: str, sandbox: list[str], info: int) -> None:
        order = self.order
        supervisor = os.getpid()
        try:
            if order["group"] is not None:
                create_group(order["group"], order["group_files"])
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
        except subprocess.SubprocessError:
            self.drain()  # the reason, from `_prepare`
            self.status = f"its process cannot be prepared ({self.tail.decode()})"

    def serve_sockets(self, info: int, proxy: int) -> None:
        """Wait until bubblewrap has written the sandbox's pid to the pipe `info`, and fork the
        proxy, whose socket has the descriptor `proxy`. If bubblewrap ends before that, do
        nothing."""
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
        """Read a piece of the bot's output, append it to `tail`, and return it. Return None if
        there is no output now, or b"" if the output has ended."""
        try:
            chunk = os.read(self.pipe, _CHUNK)
        except BlockingIOError:
            return None
        self.tail += chunk
        if len(self.tail) > 2 * _KEPT:
            del self.tail[:-_KEPT]
        if len(chunk) == _CHUNK:
            time.sleep(0.002)  # throttle a bot that floods its output to about 30 MB/s
        return chunk

    def reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                code = os.waitstatus_to_exitcode(ended[1])
                if self.bot is not None and ended[0] == self.bot.pid:
                    self.status = code
                elif ended[0] == self.proxy and code > 0 and self.status is None:
                    why = os.strerror(code)
                    self.status = f"its sandbox's network cannot be entered ({why}); {_NO_NETWORK}"

    def serve(self) -> None:
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
        group = self.order["group"]
        if group is not None:
            kill_group(group)
        end_children([self.bot.pid] if self.bot is not None and self.status is None else [])
        if group is not None:
            remove_group(group)
        if self.order["copied"] is not None:
            remove_copy(self.order["copy"])

    def report(self, request: bytes) -> None:
        for _ in range(8):  # read what is there, but only a few pieces of a flood
            if not self.drain():
                break
        self.reap()
        head = json.dumps(self.status).encode()
        if request == b"C":
            self.tail.clear()
        self.control.sendall(head + b"\n" + self.tail[-_KEPT:])


def _prepare(order: Order, supervisor: int) -> None:
    """Prepare this process to become the bot: make it end with the supervisor, whose pid is
    `supervisor`, and set the bot's control group and limits. Before raising an error, write the
    reason to the bot's output, because `subprocess` hides the reason."""
    end_with_parent(supervisor)
    try:
        if order["group"] is not None:
            with open(f"{order['group']}/cgroup.procs", "w") as file:
                file.write("0")
        # Limit writable private memory, not address space, of which virtual machines reserve far
        # more than they use.
        for limit, value in (
            (resource.RLIMIT_DATA, order["memory_mb"] << 20),
            (resource.RLIMIT_NOFILE, order["files"]),
            (resource.RLIMIT_FSIZE, _FILE_SIZE),
            (resource.RLIMIT_CORE, 0),
        ):
            hard = resource.getrlimit(limit)[1]
            if hard != resource.RLIM_INFINITY:
                value = min(value, hard)
            resource.setrlimit(limit, (value, value))
    except Exception as error:
        os.write(sys.stdout.fileno(), str(error).encode())
        raise


def _run_proxy(pid: int, control: socket.socket) -> int:
    """Enter the network of the sandbox of process `pid`, where the bot cannot see this process. For
    every byte on `control`, send back a new TCP socket in that network, for the runner to connect.

    Return 0 once `control` closes or if process `pid` has ended, or the error's number if a
    namespace cannot be entered.
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
    """Start a bot as ordered over the control socket, and report on the bot when asked. Once the
    socket closes, end the bot."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    control = socket.socket(fileno=int(sys.argv[1]))
    data = control.recv(_ORDER_SIZE)
    if not data:
        return
    order: Order = json.loads(data)
    supervisor = _Supervisor(control, order)
    with TemporaryDirectory(prefix="stich-bot-", ignore_cleanup_errors=True) as private:
        try:
            supervisor.start(order["home"] or private)
            supervisor.serve()
        except OSError:
            pass  # the runner went away in the middle of a report
        finally:
            supervisor.end()
