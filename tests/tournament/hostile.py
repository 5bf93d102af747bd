"""Misbehaving bots, one for each kind of misbehaviour: small servers on raw sockets.

As a program it listens at PORT, answers GET / properly and misbehaves on POST /move, so that the
runner can start it: `python hostile.py HOW`.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gzip
import hashlib
import json
import mmap
import os
import signal
import socket
import struct
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tournament.bot.player import HttpBot

Handler = Callable[[socket.socket, dict[str, Any]], None]
FOREVER = threading.Event()
LISTENING: list[socket.socket] = []


def answer(body: bytes, *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", *headers]
    if length is None or length >= 0:
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def sends(data: bytes) -> Handler:
    def handle(connection: socket.socket, request: dict[str, Any]) -> None:
        connection.sendall(data)

    return handle


def says(text: str | bytes) -> Handler:
    return sends(answer(text if isinstance(text, bytes) else text.encode()))


def hang(connection: socket.socket, request: dict[str, Any]) -> None:
    FOREVER.wait(60)


def drips(start: bytes, drop: bytes) -> Handler:
    def handle(connection: socket.socket, request: dict[str, Any]) -> None:
        connection.sendall(start)
        while not FOREVER.wait(0.01):
            connection.sendall(drop)

    return handle


def endless(start: bytes, piece: bytes) -> Handler:
    def handle(connection: socket.socket, request: dict[str, Any]) -> None:
        connection.sendall(start)
        while True:
            connection.sendall(piece)

    return handle


def reset(connection: socket.socket, request: dict[str, Any]) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(connection.detach())


def half(data: bytes) -> Handler:
    def handle(connection: socket.socket, request: dict[str, Any]) -> None:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_RDWR)
        connection.close()

    return handle


def dies(connection: socket.socket, request: dict[str, Any]) -> None:
    """Gives two good answers, then ends the program."""
    if request["turn"] > 2:
        print("out of luck", flush=True)
        os._exit(3)
    first(connection, request)


def floods(connection: socket.socket, request: dict[str, Any]) -> None:
    """Plays properly, but floods its output."""
    for _ in range(2000):
        sys.stderr.write("flood " * 1000 + "\n")
    first(connection, request)


def first(connection: socket.socket, request: dict[str, Any]) -> None:
    """A well-behaved bot: always plays the first move of the list."""
    connection.sendall(answer(json.dumps({"move": request["moves"][0], "extra": [1]}).encode()))


def hungry(connection: socket.socket, request: dict[str, Any]) -> None:
    """Allocates as much memory as it can."""
    pieces = []
    while True:
        pieces.append(b"x" * 10_000_000)


def breeds(connection: socket.socket, request: dict[str, Any]) -> None:
    """Leaves a daemon behind, in another session, and notes its process id."""
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        Path(sys.argv[2], str(os.getpid())).touch()
        signal.pause()
    first(connection, request)


def spies(connection: socket.socket, request: dict[str, Any]) -> None:
    """Prints what it can reach."""
    import urllib.request

    cup, outside = Path(sys.argv[2]), sys.argv[3]
    try:
        urllib.request.urlopen(outside, timeout=2)
        print("reached the outside")
    except OSError:
        print("no outside")
    looks = (
        ("cup", cup.read_text),
        ("run", lambda: os.listdir(cup.parent / "run")),
        ("other run", (cup.parent / "a" / "older" / "run.sqlite").read_text),
        ("other cup", (cup.parent / "a" / "other.toml").read_text),
        ("repository", (cup.parent / ".git" / "HEAD").read_text),
        ("bystander", (cup.parent / "a" / "notes.toml").read_text),
    )
    for name, look in looks:
        try:
            print(name, look())
        except OSError:
            print(name, "hidden")
    for place in (cup.parent / "scribble", Path(__file__).with_name("scribble")):
        try:
            place.write_text("was here")
            print("wrote", place)
        except OSError:
            print("cannot write")
    Path(os.environ["HOME"], "note").write_text("home is writable")
    print("env:", sorted(os.environ))
    print("processes:", len([name for name in os.listdir("/proc") if name.isdigit()]), flush=True)
    first(connection, request)


def litters(connection: socket.socket, request: dict[str, Any]) -> None:
    """Leaves a closed folder and a very deep one in its home, and prints where that is."""
    home = os.environ["HOME"]
    os.makedirs(f"{home}/closed/within")
    os.chmod(f"{home}/closed", 0)
    os.chdir(home)
    for _ in range(1500):
        os.mkdir("deep")
        os.chdir("deep")
    print(home, flush=True)
    first(connection, request)


def deserts(connection: socket.socket, request: dict[str, Any]) -> None:
    """Leaves a daemon behind, notes its process id, and kills its own supervisor."""
    breeds(connection, request)
    os.kill(os.getppid(), signal.SIGKILL)


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _runner(pid: int) -> int:
    """The runner above a bot's supervisor and its worker."""
    return _parent(_parent(_parent(pid)))


def _opponents() -> Iterator[tuple[int, dict[str, str]]]:
    """The processes of honest toys of the same runner, with their environment. A real attacker
    would take any bot of the user; other tests may run on this machine."""
    mine = _runner(os.getpid())
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b"toy-" in (path / "cmdline").read_bytes() and _runner(int(path.name)) == mine:
                lines = (path / "environ").read_text().split("\0")
                yield int(path.name), dict(line.split("=", 1) for line in lines if "=" in line)


def stops(connection: socket.socket, request: dict[str, Any]) -> None:
    """Stops its opponents, over and over."""

    def stop() -> None:
        while True:
            for pid, _ in _opponents():
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGSTOP)
            FOREVER.wait(0.05)

    if request["turn"] == 1:
        threading.Thread(target=stop, daemon=True).start()
    first(connection, request)


def usurps(connection: socket.socket, request: dict[str, Any]) -> None:
    """Kills its opponents, and answers at their ports."""
    for pid, env in _opponents():
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
            for _ in range(1000):
                with contextlib.suppress(OSError):
                    listener = socket.create_server(("127.0.0.1", int(env["PORT"])))
                    threading.Thread(target=serve, args=(listener, usurped), daemon=True).start()
                    break
                FOREVER.wait(0.001)
    first(connection, request)


def usurped(connection: socket.socket, request: dict[str, Any]) -> None:
    """The answer in the place of a killed opponent: one that the opponent never gives."""
    connection.sendall(answer(b'{"move": "usurped"}'))


def silences(connection: socket.socket, request: dict[str, Any]) -> None:
    """Stops the worker that asks it, once."""
    mark = Path(sys.argv[2], "stopped")
    if not mark.exists():
        mark.touch()
        os.kill(_parent(os.getppid()), signal.SIGSTOP)
    first(connection, request)


def clogs(connection: socket.socket, request: dict[str, Any]) -> None:
    """Answers once, and first fills the backlog of its port, where it accepts nothing more."""
    old = LISTENING.pop()
    old.shutdown(socket.SHUT_RDWR)
    old.close()
    full = socket.create_server(("127.0.0.1", int(os.environ["PORT"])), backlog=0)
    LISTENING.append(full)
    for _ in range(8):
        LISTENING.append(socket.socket())
        LISTENING[-1].setblocking(False)
        LISTENING[-1].connect_ex(full.getsockname())
    connection.sendall(answer(b'{"move": "pass"}', "Connection: close"))


def copies() -> None:
    """Prints how many descriptors of other processes it can copy (pidfd_getfd)."""
    libc = ctypes.CDLL(None, use_errno=True)
    copied = 0
    for pid in [int(name) for name in os.listdir("/proc") if name.isdigit()]:
        if pid in (os.getpid(), 1):
            continue
        with contextlib.suppress(OSError):
            handle = os.pidfd_open(pid)
            copied += sum(libc.syscall(438, handle, number, 0) >= 0 for number in range(40))
    print("copied", copied)


def escapes() -> None:
    """Prints which doors to the kernel and to other processes are open."""
    libc = ctypes.CDLL(None, use_errno=True)
    tries: dict[str, Callable[[], int]] = {
        "user namespace": lambda: libc.unshare(0x10000000),
        "clone": lambda: libc.syscall(56, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0),
        "clone3": lambda: libc.syscall(435, 0, 0),
        "mount": lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None),
        "ptrace": lambda: libc.ptrace(16, 1, 0, 0),
        "keyring": lambda: libc.syscall(250, 0, -3, 1),
        "bpf": lambda: libc.syscall(321, 0, 0, 0),
        "io_uring": lambda: libc.syscall(425, 8, ctypes.create_string_buffer(256)),
        "vsock": lambda: socket.socket(40, socket.SOCK_STREAM).fileno(),
        "crypto socket": lambda: socket.socket(38, socket.SOCK_SEQPACKET).fileno(),
        "root folder": lambda: os.open("/scribble", os.O_CREAT),
        "devices": lambda: os.open("/dev/scribble", os.O_CREAT),
    }
    for name, attempt in tries.items():
        try:
            done = attempt()
        except OSError:
            done = -1
        if name == "clone" and done == 0:
            os._exit(0)
        print(name, "open" if done >= 0 else "closed")
    print(
        next(line for line in Path("/proc/self/status").read_text().split("\n") if "CapEff" in line)
    )


def gorges() -> None:
    """Prints how many MB it can write to each folder that it may write to."""
    for folder in ("/tmp", "/dev/shm"):
        written = 0
        with contextlib.suppress(OSError), open(f"{folder}/big", "wb", buffering=0) as file:
            for _ in range(1024):
                written += file.write(bytes(1 << 20))
        print(folder, written >> 20)
        with contextlib.suppress(OSError):
            os.unlink(f"{folder}/big")


def bombs() -> None:
    """Prints how many processes it can start."""
    started = 0
    with contextlib.suppress(OSError):
        while started < 2000:
            if os.fork() == 0:
                signal.pause()
            started += 1
    print("started", started, flush=True)
    os.kill(-1, signal.SIGKILL)


def multiplies(connection: socket.socket, request: dict[str, Any]) -> None:
    """Starts as many processes as it can, in sessions of their own; prints how many."""
    started = 0
    with contextlib.suppress(OSError):
        while started < 2000:
            if os.fork() == 0:
                os.setsid()
                signal.pause()
            started += 1
    print(started, flush=True)
    first(connection, request)


def swarms(connection: socket.socket, request: dict[str, Any]) -> None:
    """Writes to 100 MB of memory in each of eight processes, and answers when all have it."""
    read, write = os.pipe()
    for _ in range(8):
        if os.fork() == 0:
            held = bytearray(100_000_000)
            held[::4096] = b"x" * len(held[::4096])
            os.write(write, b"x")
            signal.pause()
    got = 0
    while got < 8:
        got += len(os.read(read, 8))
    first(connection, request)


def hoards(connection: socket.socket, request: dict[str, Any]) -> None:
    """Writes to 800 MB of memory that it shares with nobody yet."""
    shared = mmap.mmap(-1, 800_000_000)
    shared[::4096] = b"x" * len(shared[::4096])
    first(connection, request)


def toy(name: str) -> Handler:
    """A bot whose move depends only on its name and the request."""

    def handle(connection: socket.socket, request: dict[str, Any]) -> None:
        moves = request["moves"]
        text = f"{name} {request['match']} {request['turn']} {request['view']['hand']}"
        choice = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") % len(moves)
        connection.sendall(answer(json.dumps({"move": moves[choice]}).encode()))

    return handle


BOMB = gzip.compress(b'{"move": "' + b" " * 1_000_000 + b'"}')
HALF_BODY = answer(b'{"move": ', length=400)
TRICKLE = b"HTTP/1.1 200 OK\r\nX-Drip: "

# name -> (how it answers POST /move, the fault that must result)
WAYS: dict[str, tuple[Handler, str]] = {
    "hang": (hang, "timeout"),
    "drip-headers": (drips(TRICKLE, b"x"), "timeout"),
    "drip-many-headers": (drips(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"), "timeout"),
    "drip-body": (drips(answer(b"", length=60_000), b" "), "timeout"),
    "drip-continue": (drips(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "timeout"),
    "drip-chunks": (
        drips(answer(b"", "Transfer-Encoding: chunked", length=-1), b"1\r\n \r\n"),
        "timeout",
    ),
    "endless": (endless(answer(b"", length=-1), b" " * 4096), "invalid"),
    "endless-chunks": (
        endless(answer(b"", "Transfer-Encoding: chunked", length=-1), b"1\r\n \r\n" * 999),
        "invalid",
    ),
    "endless-headers": (endless(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n" * 999), "invalid"),
    "endless-header": (endless(TRICKLE, b"x" * 4096), "invalid"),
    "huge": (says(b'{"move": "pass", "x": "' + b"x" * 70_000 + b'"}'), "invalid"),
    "huge-announced": (sends(answer(b"", length=10**12)), "invalid"),
    "gzip-bomb": (sends(answer(BOMB, "Content-Encoding: gzip")), "invalid"),
    "gzip": (
        sends(answer(gzip.compress(b'{"move": "pass"}'), "Content-Encoding: gzip")),
        "invalid",
    ),
    "deflate-bomb": (
        sends(answer(zlib.compress(b"\0" * 10**6), "Content-Encoding: deflate")),
        "invalid",
    ),
    "deep": (says("[" * 60_000), "invalid"),
    "deep-object": (says('{"move":' * 8_000), "invalid"),
    "redirect": (
        sends(answer(b"", "Location: http://127.0.0.1:1/move", status="302 Found")),
        "invalid",
    ),
    "redirect-307": (
        sends(answer(b"", "Location: /move", status="307 Temporary Redirect")),
        "invalid",
    ),
    "error-500": (
        sends(answer(b'{"move": "pass"}', status="500 Internal Server Error")),
        "invalid",
    ),
    "no-content": (sends(b"HTTP/1.1 204 No Content\r\n\r\n"), "invalid"),
    "upgrade": (sends(b"HTTP/1.1 101 Switching Protocols\r\n\r\n"), "invalid"),
    "not-http": (half(b"SSH-2.0-OpenSSH_9.2\r\n"), "invalid"),
    "not-json": (says("I pass."), "invalid"),
    "not-utf8": (says(b'{"move": "\xff\xfe"}'), "invalid"),
    "utf16": (says('{"move": "pass"}'.encode("utf-16")), "invalid"),
    "nan": (says('{"move": NaN}'), "invalid"),
    "infinity-beside": (says('{"move": "pass", "score": Infinity}'), "invalid"),
    "huge-number": (says('{"move": ' + "9" * 6000 + "}"), "invalid"),
    "null": (says("null"), "invalid"),
    "null-move": (says('{"move": null}'), "invalid"),
    "number-move": (says('{"move": 7}'), "invalid"),
    "list": (says('["pass"]'), "invalid"),
    "list-move": (says('{"move": ["pass"]}'), "invalid"),
    "no-move": (says('{"mvoe": "pass"}'), "invalid"),
    "two-moves": (says('{"move": "pass", "why": [], "move": "bid:1"}'), "invalid"),
    "same-move-twice": (says('{"move": "pass", "move": "pass"}'), "invalid"),
    "empty": (says(""), "invalid"),
    "empty-move": (says('{"move": ""}'), "illegal"),
    "illegal": (says('{"move": "play:3s3h3d3c"}'), "illegal"),
    "control": (says('{"move": "pass\\u0000\\u001b[2J\\r\\n"}'), "illegal"),
    "raw-control": (says(b'{"move": "pass\x00\x1b"}'), "invalid"),
    "surrogate": (says('{"move": "\\ud800"}'), "illegal"),
    "long-move": (says(json.dumps({"move": "play:" + "3s" * 30_000})), "illegal"),
    "reset": (reset, "unreachable"),
    "half-body": (half(HALF_BODY), "unreachable"),
    "half-headers": (half(b"HTTP/1.1 200 OK\r\nContent-Le"), "unreachable"),
    "half-chunks": (
        half(answer(b"ff\r\nabc", "Transfer-Encoding: chunked", length=-1)),
        "unreachable",
    ),
    "closes": (half(b""), "unreachable"),
}
PROGRAMS: dict[str, Handler] = {
    "dies": dies,
    "floods": floods,
    "hoards": hoards,
    "honest": first,
    "hungry": hungry,
    "breeds": breeds,
    "clogs": clogs,
    "deserts": deserts,
    "litters": litters,
    "multiplies": multiplies,
    "silences": silences,
    "stops": stops,
    "swarms": swarms,
    "usurps": usurps,
    "spies": spies,
}


ONCE = {"bombs": bombs, "copies": copies, "escapes": escapes, "gorges": gorges}
"""Programs that try something and end."""

ABOUT = {"name": "hostile", "version": "1", "protocol": 1, "games": ["doudizhu"]}


def serve(listener: socket.socket, handle: Handler, about: Any = ABOUT) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError as error:  # a failed handshake is one too
            if error.errno in (errno.EBADF, errno.EINVAL):
                return
            continue
        threading.Thread(target=_connection, args=(connection, handle, about), daemon=True).start()


def _connection(connection: socket.socket, handle: Handler, about: Any) -> None:
    with contextlib.suppress(OSError, EOFError), connection:
        reader = connection.makefile("rb")
        while True:
            method, path, body = _request(reader)
            if method == "GET":
                whole = isinstance(about, bytes)
                connection.sendall(about if whole else answer(json.dumps(about).encode()))
            elif path == "/move":
                handle(connection, json.loads(body))
            else:
                connection.sendall(answer(b"{}", status="404 Not Found"))


def _request(reader: Any) -> tuple[str, str, bytes]:
    line = reader.readline()
    if not line:
        raise EOFError
    method, path, _ = line.decode().split()
    length = 0
    while (header := reader.readline().strip()) != b"":
        name, _, value = header.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return method, path, reader.read(length)


@contextmanager
def running(handle: Handler, about: Any = ABOUT) -> Iterator[str]:
    """A misbehaving bot in this process; its URL."""
    with serving(socket.create_server(("127.0.0.1", 0), backlog=64), handle, about) as port:
        yield f"http://127.0.0.1:{port}"


@contextmanager
def connected(handle: Handler) -> Iterator[HttpBot]:
    """A connection to a misbehaving bot in this process."""
    from tournament.bot.dial import dial_url
    from tournament.bot.player import HttpBot

    with running(handle) as url, closing(HttpBot(url, dial_url(url))) as bot:
        yield bot


@contextmanager
def serving(listener: socket.socket, handle: Handler, about: Any = ABOUT) -> Iterator[int]:
    """A misbehaving bot on a listening socket, which is then closed; yields its port."""
    thread = threading.Thread(target=serve, args=(listener, handle, about), daemon=True)
    with listener:
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            # else it could still accept, on the descriptor that the next server gets
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def main() -> None:
    how = sys.argv[1]
    if how in ONCE:
        ONCE[how]()
        return
    if len(sys.argv) == 3:  # where to leave a note of being alive
        Path(sys.argv[2], str(os.getpid())).touch()
    handle = toy(how) if how.startswith("toy-") else PROGRAMS.get(how) or WAYS[how][0]
    LISTENING.append(socket.create_server(("127.0.0.1", int(os.environ["PORT"]))))
    serve(LISTENING[0], handle)
    FOREVER.wait()


if __name__ == "__main__":
    main()
