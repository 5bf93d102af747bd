"""Marks for tests that need what some machines lack."""

import shutil
import socket
from contextlib import suppress

import pytest


def has_ipv6() -> bool:
    """Whether a server can listen on ::1."""
    with suppress(OSError), socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
        return True
    return False


needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="needs IPv6")
