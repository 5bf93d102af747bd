"""The system calls that a bot in a sandbox may not make: a seccomp filter for bubblewrap.

They would reach into other processes, or enter parts of the kernel in which holes have been found
often. What needs a capability is not listed: bubblewrap leaves a bot none.
"""

import errno
import os
import platform
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_DENIED = {  # name: number on x86_64, on aarch64 (linux/asm/unistd.h)
    "add_key": (248, 217),
    "bpf": (321, 280),
    "kcmp": (312, 272),
    "keyctl": (250, 219),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "request_key": (249, 218),
    "setsid": (112, 157),  # Linux shares the processor among sessions
    "syslog": (103, 116),
    "userfaultfd": (323, 282),
}
_MISSING = {  # programs go without these if the kernel says that it has none
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
}
_SOCKET = (41, 198)
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 16)  # 16: netlink, for interfaces
_OTHER_ABI = 0x40000000  # x32 on x86_64

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000


@contextmanager
def opened() -> Iterator[tuple[list[str], list[int]]]:
    """The filter in a file in memory: bubblewrap's options that use it, and its descriptor. Both
    are empty on other architectures."""
    code = program()
    if code is None:
        yield [], []
        return
    descriptor = os.memfd_create("seccomp")
    try:
        os.pwrite(descriptor, code, 0)
        yield ["--seccomp", str(descriptor)], [descriptor]
    finally:
        os.close(descriptor)


def program() -> bytes | None:
    """The filter as a BPF program; None on other architectures than x86_64 and aarch64."""
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        return None
    at = list(_ARCHITECTURES).index(machine)
    rules = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, _ARCHITECTURES[machine], 1, 0),
        _step(_RETURN, _FAIL | errno.ENOSYS),
        _step(_LOAD, _NUMBER),
        _if(_AT_LEAST, _OTHER_ABI, _FAIL | errno.ENOSYS),
        *(_if(_EQUAL, numbers[at], _FAIL | errno.EPERM) for numbers in _DENIED.values()),
        *(_if(_EQUAL, numbers[at], _FAIL | errno.ENOSYS) for numbers in _MISSING.values()),
        _step(_EQUAL, _SOCKET[at], 1, 0),
        _step(_RETURN, _ALLOW),
        _step(_LOAD, _FIRST_ARGUMENT),
        *(_if(_EQUAL, int(family), _ALLOW) for family in _FAMILIES),
        _step(_RETURN, _FAIL | errno.EAFNOSUPPORT),
    ]
    return b"".join(rules)


def _step(code: int, value: int, skip_if: int = 0, skip_else: int = 0) -> bytes:
    """One instruction, a struct sock_filter; a comparison skips so many after it."""
    return struct.pack("=HBBI", code, skip_if, skip_else, value)


def _if(test: int, value: int, outcome: int) -> bytes:
    return _step(test, value, 0, 1) + _step(_RETURN, outcome)
