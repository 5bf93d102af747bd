"""Why a started bot does not answer, judging by its output and its program, and how to fix it."""

import os
import re
from collections.abc import Sequence
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
    failed = replace(failed, output="\n".join(line[:_LINE] for line in lines))
    causes = (_line_ends, _from_output, _outside_sandbox, _other_port, _by_its_end)
    return next(filter(None, (cause(failed) for cause in causes)), "")


def _line_ends(failed: FailedStart) -> str | None:
    for word in failed.argv[:2]:
        path = failed.folder / word
        if not os.path.isfile(path):  # a pipe could make the runner wait forever
            continue
        try:
            with path.open("rb") as file:
                first = file.readline(256)
        except OSError:
            continue
        if first.endswith(b"\r\n") and (first.startswith(b"#!") or "\r" in failed.output):
            return f"{word} has Windows line ends: convert it with sed -i 's/\\r$//' {word}."
    if re.search(r"\\r': command not found|python3?\\r|\^M: bad interpreter", failed.output):
        return "A script has Windows line ends: convert it with sed -i 's/\\r$//' FILE."
    return None


def _from_output(failed: FailedStart) -> str | None:
    if missing := _MODULE.search(failed.output):
        name = printable(next(filter(None, missing.groups()))[:_SHOWN])
        return (
            f"{name} is missing: install it for the interpreter in the command, or name the one of"
            " a virtual environment in the bot's folder, as .venv/bin/python bot.py."
        )
    launch = failed.launch
    inside = launch.sandboxes is not None and not launch.network
    fixes = {**_FIXES, _NETWORK: _NO_NETWORK_INSIDE if inside else _NO_NETWORK}
    fix = next((fix for words, fix in fixes.items() if re.search(words, failed.output)), None)
    return fix and fix.format(limits=launch.limits)


def _outside_sandbox(failed: FailedStart) -> str | None:
    missing = _MISSING.search(failed.output)
    if missing is None or failed.launch.sandboxes is None:
        return None
    path = next(filter(None, missing.groups()))
    if not os.path.exists(path):
        return None
    problem = f"In the sandbox there is no {printable(path[:_SHOWN])}: "
    if Path(path).parent.with_name("pyvenv.cfg").exists():
        return (
            f"{problem}make a virtual environment inside the bot's folder, or install the packages"
            " there with pip install --target, for the system's Python."
        )
    return f"{problem}copy it into the bot's folder, or make the folder that has it its dir."


def _other_port(failed: FailedStart) -> str | None:
    ports = [int(port) for port in _PORT.findall(failed.output)]
    if failed.status is not None or not ports or failed.port in ports:
        return None
    return (
        f"It seems to listen at port {ports[-1]}: it must listen at the port in the variable PORT"
        f" ({failed.port} this time), on 127.0.0.1."
    )


def _by_its_end(failed: FailedStart) -> str | None:
    if failed.status == 0:
        return (
            "It ended without an error, so perhaps it went to the background: leave out & and"
            " --daemon, and let the command run as long as the bot does."
        )
    if failed.status == -9:
        return (
            f"It was killed, perhaps for lack of memory: [limits] memory_mb is"
            f" {failed.launch.limits.memory_mb}."
        )
    if failed.status is None and not failed.output.strip():
        return (
            f"If it is only slow to start, give it more than {failed.launch.start_ms} ms:"
            " --start-ms, or start_ms in [clock]."
        )
    return None
