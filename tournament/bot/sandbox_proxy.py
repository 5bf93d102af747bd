"""The program at the door of a sandbox: it runs the bot and hands out sockets of its network.

Run by path, like the keeper, inside the sandbox: `connector.py DOOR COMMAND…`. A sandbox has a
network of its own, with loopback and nothing else. For every byte on the socket DOOR the
connector opens a TCP socket in there and passes it out; the runner connects it itself, within its
own deadline. The connector ends with the bot and with its exit code.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys


def main() -> None:
    """Start the bot and serve the door."""
    door = socket.socket(fileno=int(sys.argv[1]))
    door.set_inheritable(False)
    wake, woken = socket.socketpair()
    woken.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno())
    pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
    while True:
        for ready in select.select([door, wake], [], [])[0]:
            if ready is wake:
                wake.recv(4096)
                _leave(pid)
            elif door.recv(1):
                with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as fresh:
                    socket.send_fds(door, [b"S"], [fresh.fileno()])
            else:
                return


def _leave(pid: int) -> None:
    """Collect the dead; end with the bot."""
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
