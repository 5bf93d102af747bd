"""The system calls that a sandboxed bot may not make: a seccomp filter for bubblewrap.

They reach into other processes, tell another sandbox something through a file that both can read,
or enter parts of the kernel that have often had security holes.
"""

import errno
import fcntl
import os
import platform
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_ARCHITECTURES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_DO_NOTHING: Final = _FAIL | 0  # returns 0, as if the call had succeeded
_DENY: Final = _FAIL | errno.EPERM
_MISSING: Final = _FAIL | errno.ENOSYS  # as if the kernel lacked the call

# The number of the call on x86_64 and on aarch64 (linux/asm/unistd.h), and the outcome.
_OUTCOMES: Final = {
    "add_key": (248, 217, _DENY),
    "bpf": (321, 280, _DENY),
    "fanotify_init": (300, 262, _MISSING),
    "flock": (73, 32, _DO_NOTHING),
    "inotify_init": (253, 26, _MISSING),  # aarch64 has only inotify_init1
    "inotify_init1": (294, 26, _MISSING),
    "io_uring_enter": (426, 426, _MISSING),
    "io_uring_register": (427, 427, _MISSING),
    "io_uring_setup": (425, 425, _MISSING),
    "kcmp": (312, 272, _DENY),
    "keyctl": (250, 219, _DENY),
    "perf_event_open": (298, 241, _DENY),
    "pidfd_getfd": (438, 438, _DENY),
    "process_vm_readv": (310, 270, _DENY),
    "process_vm_writev": (311, 271, _DENY),
    "ptrace": (101, 117, _DENY),
    "request_key": (249, 218, _DENY),
    "setsid": (112, 157, _DENY),  # Linux shares the processor among sessions
    "syslog": (103, 116, _DENY),
    "userfaultfd": (323, 282, _DENY),
}
_FCNTL: Final = (72, 25)
_SET_LOCK: Final = (fcntl.F_SETLK, fcntl.F_SETLKW, fcntl.F_OFD_SETLK, fcntl.F_OFD_SETLKW)
_COMMANDS: Final = (
    *(fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC, 1027),  # F_DUPFD_QUERY
    *(fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL, fcntl.F_SETFL, 1028),  # F_CREATED_QUERY
    # SQLite asks for locks. Since none can be set, the answer is always that there is none.
    *(fcntl.F_GETLK, fcntl.F_OFD_GETLK),
    *(fcntl.F_SETOWN, fcntl.F_GETOWN, fcntl.F_SETSIG, fcntl.F_GETSIG, 15, 16),  # F_..OWN_EX
    *(fcntl.F_SETPIPE_SZ, fcntl.F_GETPIPE_SZ, fcntl.F_ADD_SEALS, fcntl.F_GET_SEALS),
)
"""The commands of fcntl that are allowed. All others except locks fail. Every process that can read
a file notices leases, notifications and write hints."""
_SOCKET: Final = (41, 198)
_NETLINK: Final = 16  # tells programs the network interfaces
_FAMILIES: Final = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, _NETLINK)
_OTHER_ABI: Final = 0x40000000  # x32 on x86_64


@contextmanager
def opened() -> Iterator[int]:
    """Within this context, open a file in memory with the filter. Yield the file's descriptor, for
    bubblewrap's option `--seccomp`.

    Raises:
        OSError: if there is no filter for this type of machine, or the file cannot be created.
    """
    descriptor = os.memfd_create("seccomp")
    try:
        os.pwrite(descriptor, _program(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _program() -> bytes:
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        raise OSError(
            f"there is no filter of system calls for {machine} (use a machine with x86_64 or"
            " aarch64)"
        )
    at = list(_ARCHITECTURES).index(machine)
    locks = dict.fromkeys(_SET_LOCK, _DO_NOTHING)
    rules = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, _ARCHITECTURES[machine], 1, 0),
        _step(_RETURN, _MISSING),
        _step(_LOAD, _NUMBER),
        _if(_AT_LEAST, _OTHER_ABI, _MISSING),
        *(_if(_EQUAL, call[at], call[2]) for call in _OUTCOMES.values()),
        *_by_argument(
            _FCNTL[at], 1, locks | dict.fromkeys(_COMMANDS, _ALLOW), _FAIL | errno.EINVAL
        ),
        *_by_argument(_SOCKET[at], 0, dict.fromkeys(_FAMILIES, _ALLOW), _FAIL | errno.EAFNOSUPPORT),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(rules)


def _by_argument(
    call: int, argument: int, outcomes: dict[int, int], otherwise: int
) -> Iterator[bytes]:
    """Yield the rules for the system call with the number `call`. `outcomes` has the outcome for
    each value of the argument with the number `argument`, counted from 0. All other values have the
    outcome `otherwise`. Only the lower 32 bits of the argument are compared, because Linux ignores
    the upper bits in these calls."""
    rules = [
        _step(_LOAD, _ARGUMENTS + 8 * argument),
        *(_if(_EQUAL, value, outcome) for value, outcome in outcomes.items()),
        _step(_RETURN, otherwise),
    ]
    steps = b"".join(rules)
    yield _step(_EQUAL, call, 0, len(steps) // 8)
    yield steps


def _step(code: int, value: int, skip_if: int = 0, skip_else: int = 0) -> bytes:
    # A struct sock_filter. A comparison skips `skip_if` steps if it holds, otherwise `skip_else`.
    return struct.pack("=HBBI", code, skip_if, skip_else, value)


def _if(test: int, value: int, outcome: int) -> bytes:
    return _step(test, value, 0, 1) + _step(_RETURN, outcome)
