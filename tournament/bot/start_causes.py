"""Why a started bot does not answer, judging by its output and its program, and how to fix it."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tournament.bot.launch import LaunchSettings
from tournament.text import printable

_SHOWN = 80
_LINE = 1000  # characters: some searches take the square of it


@dataclass(frozen=True, slots=True)
class FailedStart:
    """What is known about a bot that ended, or did not answer GET / in time."""

    output: str
    argv: Sequence[str]
    folder: Path  # where it runs
    port: int
    status: int | None  # None if it is running, 127 if it could not be started
    launch: LaunchSettings


_MODULE = re.compile(
    r"No module named '?([\w.]+)|Cannot find (?:module|package) '([^']+)'"
    r"|(?:NoClassDefFoundError|ClassNotFoundException): (\S+)|([\w./+-]+\.so[.\d]*): cannot open"
)
_MISSING = re.compile(
    r"No such file or directory:? ?'?(/[^'\s]+)|open '(/[^']+)'|(/[^\s:']+): No such"
)
_FIXES = {
    r"Read-only file system: '[^']*/rlcard/": (
        "RLCard writes files when it is first imported: run once, in the folder that the agent runs"
        " in, python3 -c \"import rlcard; rlcard.make('doudizhu')\"."
    ),
    r"Read-only file system|EROFS": (
        "It writes to a folder that is read-only: let it write to the folder in $TMPDIR."
    ),
    r"Address already in use|EADDRINUSE": (
        "Another program listens at the port of its choice: it must listen at the port in the"
        " variable PORT."
    ),
    r"MemoryError|Cannot allocate memory|ENOMEM|bad_alloc|heap out of memory"
    r"|OutOfMemoryError|Could not reserve enough space": (
        "It has too little memory: [limits] memory_mb ({limits.memory_mb} here) is for each of its"
        " processes; raise it, or load less."
    ),
    r"Too many open files|EMFILE": (
        "It opens too many files: [limits] files is {limits.files}; close them, or raise it."
    ),
    r"Resource temporarily unavailable|can't start new thread|EAGAIN": (
        "It starts too many processes or threads: [limits] processes is {limits.processes}."
    ),
    r"Exec format error|GLIBC_[\d.]+' not found|cannot execute binary": (
        "It was built for another system: build it on this one."
    ),
    r"SyntaxError|IndentationError": (
        "Its program has a syntax error: correct it, or name a newer interpreter."
    ),
}
_NETWORK = (
    r"Network is unreachable|ENETUNREACH|name resolution|EAI_AGAIN|ENOTFOUND"
    r"|Name or service not known|UnknownHostException|Could not resolve host|no such host"
)
_NO_NETWORK_INSIDE = (
    "It has no network in the sandbox: --network, or network = true in [sandbox], lets it use that"
    " of the machine. Otherwise put what it needs into its folder."
)
_NO_NETWORK = "It reaches no network: check the connection and the address that it asks."
_PORT = re.compile(r"(?:port|localhost|127\.0\.0\.1|0\.0\.0\.0|\[::\])[ :=]{1,3}(\d{2,5})\b", re.I)


def start_fix(failed: FailedStart) -> str:
    """Return advice on how to fix the bot, or "" if the cause is not known."""
    lines = failed.output.split("\n")
    output = "\n".join(line[:_LINE] for line in lines)
    return next(_causes(replace(failed, output=output)), "")


def _causes(failed: FailedStart) -> Iterator[str]:
    """Yield advice for each possible cause, the most certain one first."""
    output, launch = failed.output, failed.launch
    yield from _line_ends(failed)
    if missing := _MODULE.search(output):
        name = printable(next(filter(None, missing.groups()))[:_SHOWN])
        yield (
            f"{name} is missing: install it for the interpreter in the command, or name the one of"
            " a virtual environment in the bot's folder, as .venv/bin/python bot.py."
        )
    for words, fix in _FIXES.items():
        if re.search(words, output):
            yield fix.format(limits=launch.limits)
    if re.search(_NETWORK, output):
        inside = launch.sandboxes is not None and not launch.network
        yield _NO_NETWORK_INSIDE if inside else _NO_NETWORK
    if launch.sandboxes is not None and (missing := _MISSING.search(output)):
        path = next(filter(None, missing.groups()))
        if os.path.exists(path):
            yield _outside_sandbox(path)
    ports = [int(port) for port in _PORT.findall(output)]
    if failed.status is None and ports and failed.port not in ports:
        yield (
            f"It seems to listen at port {ports[-1]}: it must listen at the port in the variable"
            f" PORT ({failed.port} this time), on 127.0.0.1."
        )
    if failed.status == 0:
        yield (
            "It ended without an error, so perhaps it went to the background: leave out & and"
            " --daemon, and let the command run as long as the bot does."
        )
    if failed.status == -9:
        yield (
            f"It was killed, perhaps for lack of memory: [limits] memory_mb is"
            f" {launch.limits.memory_mb}."
        )
    if failed.status is None and not output.strip():
        yield (
            f"If it is only slow to start, give it more than {launch.start_ms} ms: --start-ms, or"
            " start_ms in [clock]."
        )


def _line_ends(failed: FailedStart) -> Iterator[str]:
    for word in failed.argv[:2]:
        path = failed.folder / word
        if not os.path.isfile(path):  # a pipe could make the runner wait forever
            continue
        with suppress(OSError), path.open("rb") as file:
            first = file.readline(256)
            if first.endswith(b"\r\n") and (first.startswith(b"#!") or "\r" in failed.output):
                yield f"{word} has Windows line ends: convert it with sed -i 's/\\r$//' {word}."
    if re.search(r"\\r': command not found|python3?\\r|\^M: bad interpreter", failed.output):
        yield "A script has Windows line ends: convert it with sed -i 's/\\r$//' FILE."


def _outside_sandbox(path: str) -> str:
    problem = f"In the sandbox there is no {printable(path[:_SHOWN])}: "
    if (Path(path).parent.parent / "pyvenv.cfg").exists():
        return (
            f"{problem}make a virtual environment inside the bot's folder, or install the packages"
            " there with pip install --target, for the system's Python."
        )
    return f"{problem}copy it into the bot's folder, or make the folder that has it its dir."
