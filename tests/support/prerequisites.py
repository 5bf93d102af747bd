"""Marks for tests that need what some machines lack."""

import shutil
import socket
from contextlib import closing

import pytest


def has_ipv6() -> bool:
    """Whether a server can listen on ::1."""
    try:
        with closing(socket.socket(socket.AF_INET6)) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js 18 or newer")
needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="needs IPv6")
