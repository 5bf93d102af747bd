"""The system calls that a bot in a sandbox may not make: a seccomp filter for bubblewrap.

A bot needs none of them. They would reach into other processes, load code into the kernel, or enter
parts of the kernel in which holes have been found often.
"""

from __future__ import annotations

import errno
import os
import platform
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_DENIED = {  # name: number on x86_64, on aarch64 (linux/asm/unistd.h)
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "delete_module": (176, 106),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "setns": (308, 268),
    "setsid": (112, 157),  # Linux shares the processor among sessions
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
_MISSING = {  # programs go without these if the kernel says that it has none
    "clone3": (435, 435),  # its flags are out of a filter's reach
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
}
_CLONE, _SOCKET = (56, 220), (41, 198)
_NEW_NAMESPACES = 0x7E020000  # all CLONE_NEW flags
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 16)  # 16: netlink, for interfaces
_OTHER_ABI = 0x40000000  # x32 on x86_64

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
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
    socket_rules = b"".join(_if(_EQUAL, int(family), _ALLOW) for family in _FAMILIES)
    rules = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, _ARCHITECTURES[machine], 1, 0),
        _step(_RETURN, _FAIL | errno.ENOSYS),
        _step(_LOAD, _NUMBER),
        _if(_AT_LEAST, _OTHER_ABI, _FAIL | errno.ENOSYS),
        *(_if(_EQUAL, numbers[at], _FAIL | errno.EPERM) for numbers in _DENIED.values()),
        *(_if(_EQUAL, numbers[at], _FAIL | errno.ENOSYS) for numbers in _MISSING.values()),
        _argument(_CLONE[at], _if(_ANY_BIT, _NEW_NAMESPACES, _FAIL | errno.EPERM), _ALLOW),
        _argument(_SOCKET[at], socket_rules, _FAIL | errno.EAFNOSUPPORT),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(rules)


def _step(code: int, value: int, skip_if: int = 0, skip_else: int = 0) -> bytes:
    """One instruction, a struct sock_filter; a comparison skips so many after it."""
    return struct.pack("=HBBI", code, skip_if, skip_else, value)


def _if(test: int, value: int, outcome: int) -> bytes:
    return _step(test, value, 0, 1) + _step(_RETURN, outcome)


def _argument(number: int, rules: bytes, otherwise: int) -> bytes:
    """Rules on the first argument of one call, and the outcome if none of them applies."""
    body = _step(_LOAD, _FIRST_ARGUMENT) + rules + _step(_RETURN, otherwise)
    return _step(_EQUAL, number, 0, len(body) // 8) + body
