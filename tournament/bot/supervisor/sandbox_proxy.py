"""The process that passes sockets out of the network of a sandbox.

It is a fork of the supervisor that enters the sandbox's network, but not its other namespaces, so
the bot cannot see it. For every byte on its control socket it opens a TCP socket there and passes
it out; the runner connects it within its own deadline.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import socket

from tournament.bot.supervisor.process_tree import PR_SET_PDEATHSIG, prctl

_NS_GET_USERNS = 0xB701


def run_proxy(pid: int, control: socket.socket) -> None:
    """In a child: enter the network that a sandbox has, and pass out sockets of it."""
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    owner = fcntl.ioctl(network, _NS_GET_USERNS)
    for namespace in (owner, network):
        if ctypes.CDLL(None).setns(namespace, 0):
            return
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # not earlier: entering a namespace clears it
    while control.recv(1):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as inner:
            socket.send_fds(control, [b"S"], [inner.fileno()])
