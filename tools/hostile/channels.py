"""Ways for a bot to tell something to a bot in another sandbox, by files that both can only read.

A byte takes eight files: the sender marks those that stand for its bits, the receiver looks at all.
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
_FCNTL, _FUTEX = (72, 202) if platform.machine() == "x86_64" else (25, 98)
_FCNTL_32 = 221  # on i386
_WRITE_HINT, _GET_WRITE_HINT, _LONG_LIVED = 1036, 1035, 4
_OPENED, _WAIT, _WAKE = 0x20, 0, 1
_KEPT: list[int] = []  # descriptors whose locks and leases last


def _kept(path: Path) -> int:
    _KEPT.append(os.open(path, os.O_RDONLY))
    return _KEPT[-1]


def _lock(kind: int) -> bytes:
    """A struct flock on the whole file."""
    return struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 0, 0)


def _asks(command: int) -> Callable[[Path], bool]:
    def marked(path: Path) -> bool:
        found = fcntl.fcntl(_kept(path), command, _lock(fcntl.F_WRLCK))
        return bool(struct.unpack_from("h", found)[0] != fcntl.F_UNLCK)

    return marked


def _is_flocked(path: Path) -> bool:
    try:
        fcntl.flock(_kept(path), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _syscall(number: int, command: int) -> Callable[[Path], None]:
    """Lock by another number of fcntl, or another command that Linux takes for the same."""

    def mark(path: Path) -> None:
        lock = ctypes.create_string_buffer(_lock(fcntl.F_RDLCK))
        LIBC.syscall(number, _kept(path), ctypes.c_long(command), lock)

    return mark


def _locks_by_32_bits(path: Path) -> None:
    """Lock by the system calls of i386 (int 0x80), in a child because these may be missing."""
    code = bytes.fromhex("53 89f8 89f3 89d1 4489c2 cd80 5b c3")  # ebx esi→ebx, edx→ecx, r8d→edx
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    enter = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_long] * 5)(
        ctypes.addressof(ctypes.c_char.from_buffer(page))
    )
    LIBC.mmap.restype = ctypes.c_void_p
    low = LIBC.mmap(None, ctypes.c_size_t(4096), 3, 0x62, -1, ctypes.c_long(0))  # MAP_32BIT
    ctypes.memmove(low, struct.pack("=hhqqi", fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0), 24)
    descriptor = _kept(path)
    if os.fork() == 0:  # an OFD lock is that of the open file, which the parent keeps
        enter(_FCNTL_32, descriptor, fcntl.F_OFD_SETLK, 0, low)
        os._exit(0)
    os.wait()


def _is_leased(path: Path) -> bool:
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    except BlockingIOError:
        return True
    return False


def _write_hint(path: Path) -> bool:
    found = fcntl.fcntl(_kept(path), _GET_WRITE_HINT, bytes(8))
    return bool(struct.unpack("Q", found)[0] == _LONG_LIVED)


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


def _address(path: Path) -> int:
    LIBC.mmap.restype = ctypes.c_void_p
    place = LIBC.mmap(None, ctypes.c_size_t(4096), 1, 1, _kept(path), ctypes.c_long(0))
    assert isinstance(place, int)
    return place


def _waits(path: Path) -> None:
    """Wait for a futex in the file."""
    place = _address(path)
    value = ctypes.c_uint.from_address(place).value
    wait = (_FUTEX, ctypes.c_void_p(place), _WAIT, ctypes.c_uint(value), None)
    threading.Thread(target=LIBC.syscall, args=wait, daemon=True).start()


def _wakes(path: Path) -> bool:
    return bool(LIBC.syscall(_FUTEX, ctypes.c_void_p(_address(path)), _WAKE, 1) == 1)


def _puts_into(path: Path) -> None:
    os.write(os.open(path.with_suffix(".pipe"), os.O_RDWR | os.O_NONBLOCK), b"x")


def _finds_in(path: Path) -> bool:
    with suppress(BlockingIOError):
        return bool(os.read(os.open(path.with_suffix(".pipe"), os.O_RDWR | os.O_NONBLOCK), 1))
    return False


def _evicts(path: Path) -> None:
    """Drop a file from the page cache, where its writer and its readers have left it."""
    os.posix_fadvise(_kept(path), 0, 0, os.POSIX_FADV_DONTNEED)


def _is_evicted(path: Path) -> bool:
    try:
        return os.preadv(_kept(path), [bytearray(16)], 0, os.RWF_NOWAIT) == 0
    except BlockingIOError:
        return True


CHANNELS: dict[str, tuple[Callable[[Path], object], Callable[[Path], bool]]] = {
    "flock": (lambda path: fcntl.flock(_kept(path), fcntl.LOCK_EX), _is_flocked),
    "lock": (lambda path: fcntl.lockf(_kept(path), fcntl.LOCK_SH), _asks(fcntl.F_GETLK)),
    "OFD lock": (
        lambda path: fcntl.fcntl(_kept(path), fcntl.F_OFD_SETLK, _lock(fcntl.F_RDLCK)),
        _asks(fcntl.F_OFD_GETLK),
    ),
    "lock with upper bits": (
        _syscall(_FCNTL, fcntl.F_OFD_SETLK | 1 << 32),
        _asks(fcntl.F_OFD_GETLK),
    ),
    "lock of x32": (
        _syscall(0x40000000 | _FCNTL, fcntl.F_OFD_SETLK),
        _asks(fcntl.F_OFD_GETLK),
    ),
    "lock of i386": (_locks_by_32_bits, _asks(fcntl.F_OFD_GETLK)),
    "lease": (
        lambda path: fcntl.fcntl(_kept(path), fcntl.F_SETLEASE, fcntl.F_WRLCK),
        _is_leased,
    ),
    "write hint": (
        lambda path: fcntl.fcntl(_kept(path), _WRITE_HINT, struct.pack("Q", _LONG_LIVED)),
        _write_hint,
    ),
    "inotify": (_opens_again_and_again, _sees_it_opened),
    "pipe": (_puts_into, _finds_in),
    "page cache": (_evicts, _is_evicted),
    "futex": (_waits, _wakes),
}


def _files() -> list[Path]:
    """The eight files to use: in the folder that is named, or of the Python environment."""
    shared = Path(sysconfig.get_path("stdlib"), "encodings")
    return sorted((Path(sys.argv[3]) if len(sys.argv) > 3 else shared).glob("*.py"))[:8]


def tells() -> None:
    """Tells the letter x by a channel, and goes on telling."""
    for bit, path in enumerate(_files()):
        if ord("x") >> bit & 1:
            with suppress(OSError):
                CHANNELS[sys.argv[2]][0](path)
    print("told", flush=True)
    signal.pause()


def hears() -> None:
    """Prints the letter that a channel tells."""
    found = 0
    for bit, path in enumerate(_files()):
        with suppress(OSError):
            found |= CHANNELS[sys.argv[2]][1](path) << bit
    print("heard", chr(found))


def locks() -> None:
    """Prints how many of two rows SQLite finds, by journal, and whether the database is whole: two
    connections have written, and a program has died in the middle of its work."""
    import sqlite3

    for journal in ("delete", "wal"):  # those that other locks protect
        name = f"{os.environ['HOME']}/{journal}.sqlite"
        first, second = sqlite3.connect(name), sqlite3.connect(name)
        with first:
            first.execute(f"PRAGMA journal_mode = {journal}")
            first.execute("CREATE TABLE notes (words)")
        for connection in (first, second):
            with connection:
                connection.execute("INSERT INTO notes VALUES ('x')")
        if os.fork() == 0:  # a program of its own that dies in the middle of its work
            third = sqlite3.connect(name, isolation_level=None)
            third.execute("PRAGMA cache_size = 1")
            third.execute("BEGIN IMMEDIATE")
            third.executemany("INSERT INTO notes VALUES (?)", [("y" * 4000,)] * 100)
            os._exit(1)
        os.wait()
        fourth = sqlite3.connect(name)
        (count,) = fourth.execute("SELECT count(*) FROM notes").fetchone()
        print(journal, count, fourth.execute("PRAGMA integrity_check").fetchone()[0])
