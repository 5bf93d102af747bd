"""The program in a sandbox that runs the bot and hands out sockets of the sandbox's network.

It is run by path, as the supervisor is: `sandbox_proxy.py CONTROL COMMAND…`. A sandbox has its own
network, with nothing but loopback. For every byte on the socket CONTROL the proxy opens a TCP
socket inside and passes it out; the runner connects it within its own deadline. The proxy ends
with the bot and with its exit code.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys


def main() -> None:
    """Start the bot and hand out sockets until it ends."""
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    wake, woken = socket.socketpair()
    woken.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno())
    pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
    while True:
        for ready in select.select([control, wake], [], [])[0]:
            if ready is wake:
                wake.recv(4096)
                _reap(pid)
            elif control.recv(1):
                with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as inner:
                    socket.send_fds(control, [b"S"], [inner.fileno()])
            else:
                return


def _reap(pid: int) -> None:
    """Collect processes that have ended; exit if the bot is one of them."""
    try:
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            if found[0] == pid:
                code = os.waitstatus_to_exitcode(found[1])
                os._exit(code if code >= 0 else 128 - code)
    except ChildProcessError:
        return


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"{sys.argv[2]}: {error.strerror}")
