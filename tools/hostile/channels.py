"""Ways for a bot to send data to a bot in another sandbox, through files that both can read.

A byte takes eight files. The sender marks a file for each bit that is set, and the receiver looks
at all eight.
"""

import ctypes
import fcntl
import mmap
import os
import platform
import select
import signal
import struct
import sys
import sysconfig
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
_FCNTL, _FUTEX = (72, 202) if platform.machine() == "x86_64" else (25, 98)
_FCNTL_32 = 221  # on i386
_WRITE_HINT, _GET_WRITE_HINT, _LONG_LIVED = 1036, 1035, struct.pack("Q", 4)
_OPENED, _WAIT, _WAKE = 0x20, 0, 1


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY)  # left open, so that locks and leases last


def _lock(kind: int) -> bytes:
    """A `struct flock` for the whole file."""
    return struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 0, 0)


def _finds_lock(command: int) -> Callable[[Path], bool]:
    """A function that asks fcntl whether a file is locked."""
    free, asked = struct.pack("h", fcntl.F_UNLCK), _lock(fcntl.F_WRLCK)
    return lambda path: not fcntl.fcntl(_open(path), command, asked).startswith(free)


def _blocks(attempt: Callable[[Path], object]) -> Callable[[Path], bool]:
    """A function that says whether an attempt would have to wait."""

    def would_wait(path: Path) -> bool:
        try:
            attempt(path)
        except BlockingIOError:
            return True
        return False

    return would_wait


def _syscall(number: int, command: int) -> Callable[[Path], object]:
    """A function that locks a file with a system call that Linux treats as fcntl."""
    lock = ctypes.create_string_buffer(_lock(fcntl.F_RDLCK))
    return lambda path: LIBC.syscall(number, _open(path), ctypes.c_long(command), lock)


def _locks_by_32_bits(path: Path) -> None:
    """Lock with an i386 system call (int 0x80), in a child because the kernel may not have it."""
    code = bytes.fromhex("53 89f8 89f3 89d1 4489c2 cd80 5b c3")  # ebx esi→ebx, edx→ecx, r8d→edx
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    enter = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_long] * 5)(
        ctypes.addressof(ctypes.c_char.from_buffer(page))
    )
    low = LIBC.mmap(None, ctypes.c_size_t(4096), 3, 0x62, -1, ctypes.c_long(0))  # MAP_32BIT
    ctypes.memmove(low, struct.pack("=hhqqi", fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0), 24)
    descriptor = _open(path)
    if os.fork() == 0:  # the lock belongs to the open file, which the parent leaves open
        enter(_FCNTL_32, descriptor, fcntl.F_OFD_SETLK, 0, low)
        os._exit(0)
    os.wait()


def _opens_again_and_again(path: Path) -> None:
    def run() -> None:
        while True:
            path.read_bytes()
            select.select([], [], [], 0.01)

    threading.Thread(target=run, daemon=True).start()


def _sees_it_opened(path: Path) -> bool:
    watcher = LIBC.inotify_init1(0)
    if watcher < 0 or LIBC.inotify_add_watch(watcher, bytes(path), _OPENED) < 0:
        return False
    return bool(select.select([watcher], [], [], 0.5)[0])


def _mapped(path: Path) -> int:
    """Map a file into memory. Return the address."""
    address = LIBC.mmap(None, ctypes.c_size_t(4096), 1, 1, _open(path), ctypes.c_long(0))
    assert isinstance(address, int)
    return address


def _waits(path: Path) -> None:
    """Wait on a futex in the file, in a thread."""
    address = _mapped(path)
    value = ctypes.c_uint.from_address(address).value
    wait = (_FUTEX, ctypes.c_void_p(address), _WAIT, ctypes.c_uint(value), None)
    threading.Thread(target=LIBC.syscall, args=wait, daemon=True).start()


def _pipe(path: Path) -> int:
    return os.open(path.with_suffix(".pipe"), os.O_RDWR | os.O_NONBLOCK)


def _finds_in_pipe(path: Path) -> bool:
    with suppress(BlockingIOError):
        return bool(os.read(_pipe(path), 1))
    return False


Channel = tuple[Callable[[Path], object], Callable[[Path], bool]]
"""A function that marks a file, and a function that says whether a file is marked."""
_HAS_OFD_LOCK = _finds_lock(fcntl.F_OFD_GETLK)
CHANNELS: dict[str, Channel] = {
    "flock": (
        lambda path: fcntl.flock(_open(path), fcntl.LOCK_EX),
        _blocks(lambda path: fcntl.flock(_open(path), fcntl.LOCK_EX | fcntl.LOCK_NB)),
    ),
    "lock": (lambda path: fcntl.lockf(_open(path), fcntl.LOCK_SH), _finds_lock(fcntl.F_GETLK)),
    "OFD lock": (_syscall(_FCNTL, fcntl.F_OFD_SETLK), _HAS_OFD_LOCK),
    "lock with upper bits": (_syscall(_FCNTL, fcntl.F_OFD_SETLK | 1 << 32), _HAS_OFD_LOCK),
    "lock of x32": (_syscall(0x40000000 | _FCNTL, fcntl.F_OFD_SETLK), _HAS_OFD_LOCK),
    "lock of i386": (_locks_by_32_bits, _HAS_OFD_LOCK),
    "lease": (
        lambda path: fcntl.fcntl(_open(path), fcntl.F_SETLEASE, fcntl.F_WRLCK),
        _blocks(lambda path: os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))),
    ),
    "write hint": (
        lambda path: fcntl.fcntl(_open(path), _WRITE_HINT, _LONG_LIVED),
        lambda path: fcntl.fcntl(_open(path), _GET_WRITE_HINT, bytes(8)) == _LONG_LIVED,
    ),
    "inotify": (_opens_again_and_again, _sees_it_opened),
    "pipe": (lambda path: os.write(_pipe(path), b"x"), _finds_in_pipe),
    "page cache": (
        lambda path: os.posix_fadvise(_open(path), 0, 0, os.POSIX_FADV_DONTNEED),
        _blocks(lambda path: os.preadv(_open(path), [bytearray(16)], 0, os.RWF_NOWAIT)),
    ),
    "futex": (
        _waits,
        lambda path: LIBC.syscall(_FUTEX, ctypes.c_void_p(_mapped(path)), _WAKE, 1) == 1,
    ),
}


def _files() -> list[Path]:
    """The eight files to mark, in the folder that argv[3] names or in the Python environment."""
    shared = Path(sysconfig.get_path("stdlib"), "encodings")
    return sorted((Path(sys.argv[3]) if len(sys.argv) > 3 else shared).glob("*.py"))[:8]


def tells() -> None:
    """Send the letter x through the channel that argv[2] names, until killed."""
    for bit, path in enumerate(_files()):
        if ord("x") >> bit & 1:
            with suppress(OSError):
                CHANNELS[sys.argv[2]][0](path)
    print("told", flush=True)
    signal.pause()


def hears() -> None:
    """Print the letter received through the channel that argv[2] names."""
    letter = 0
    for bit, path in enumerate(_files()):
        with suppress(OSError):
            letter |= CHANNELS[sys.argv[2]][1](path) << bit
    print("heard", chr(letter))


def locks() -> None:
    """Print, by journal mode, how many of two rows SQLite finds and whether the file is intact.

    Two connections wrote the rows, and a program died in the middle of a transaction.
    """
    import sqlite3

    for journal in ("delete", "wal"):  # which are protected by different locks
        name = f"{os.environ['HOME']}/{journal}.sqlite"
        first, second = sqlite3.connect(name), sqlite3.connect(name)
        with first:
            first.execute(f"PRAGMA journal_mode = {journal}")
            first.execute("CREATE TABLE notes (words)")
        for connection in (first, second):
            with connection:
                connection.execute("INSERT INTO notes VALUES ('x')")
        if os.fork() == 0:
            third = sqlite3.connect(name, isolation_level=None)
            third.execute("PRAGMA cache_size = 1")
            third.execute("BEGIN IMMEDIATE")
            third.executemany("INSERT INTO notes VALUES (?)", [("y" * 4000,)] * 100)
            os._exit(1)
        os.wait()
        fourth = sqlite3.connect(name)
        (count,) = fourth.execute("SELECT count(*) FROM notes").fetchone()
        print(journal, count, fourth.execute("PRAGMA integrity_check").fetchone()[0])
