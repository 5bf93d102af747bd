import os
from pathlib import Path

import pytest

from tests.support.tournament.checked import checked, failures
from tests.support.tournament.cups import stich, write
from tournament.bot.launch import LaunchSettings
from tournament.bot.start_causes import FailedStart, start_fix
from tournament.config.cup import Limits

# What a bot wrote, how it ended (None: it runs), and words of the fix.
OUTPUTS: list[tuple[str, int | None, str]] = [
    ("OSError: [Errno 30] Read-only file system: 'log.txt'", 1, "$TMPDIR"),
    ("OSError: [Errno 101] Network is unreachable", 1, "--network, or network = true"),
    ("OSError: [Errno 98] Address already in use", 1, "variable PORT"),
    ("MemoryError", 1, "[limits] memory_mb (2048 here)"),
    ("", -9, "for lack of memory"),
    ("OSError: [Errno 24] Too many open files: 'cards'", 1, "[limits] files is 1024"),
    ("RuntimeError: can't start new thread", 1, "[limits] processes is 512"),
    ("error while loading shared libraries: libx.so.2: cannot open shared", 127, "libx.so.2 is"),
    ("./bot: version `GLIBC_2.38' not found", 1, "built for another system"),
    ("/usr/bin/env: 'python3\\r': No such file or directory", 127, "Windows line ends"),
    ("", 0, "went to the background"),
    ("", None, "--start-ms"),
    ("Listening on http://localhost:8080", None, "listen at port 8080"),
    ("No such file or directory: '/usr'", 1, "copy it into the bot's folder"),
    ("[Errno 30] Read-only file system: '/x/rlcard/games/jsondata'", 1, "when it is first import"),
]
CRLF = b"#!/bin/sh\r\nexec sleep 60\r\n"
FORK = b"import os, sys\nif os.fork(): sys.exit()\nimport time; time.sleep(60)"
BAD = [
    (b"import nothing_of_the_kind", "nothing_of_the_kind is missing: install it"),
    (b"def", "syntax error"),
    (b"raise MemoryError", "memory_mb"),
]
"""Programs that fail wherever they lie, and the fix of each."""
FAILING = [
    ("./bot.py", CRLF, "Windows line ends: convert it with sed"),
    ("python bot.py", *BAD[0]),
    ("python bot.py", FORK, "leave out & and --daemon"),
    ("python none.py", b"", "Start it by hand"),
    ("pythn bot.py", b"", 'there is no program "pythn"; install it'),
    ("python bot.py", b"raise SystemExit('no deck')", "Start it by hand"),
]


def fix(output: str, status: int | None, sandboxed: bool = True, network: bool = False) -> str:
    launch = LaunchSettings(Limits(), 10_000, {} if sandboxed else None, network=network)
    return start_fix(FailedStart(output, ["./bot"], Path("/no"), 9999, status, launch))


def test_output_and_return_code_say_why() -> None:
    for output, status, words in OUTPUTS:
        assert words in fix(output, status)


def test_a_virtual_environment_elsewhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("pyvenv.cfg", "bin/python"):
        (tmp_path / name).touch()
    text = fix(f"{tmp_path}/bin/python: No such file or directory", 1)
    assert "make a virtual environment inside the bot's folder" in text


def test_a_cause_that_is_not_known_has_no_fix() -> None:
    late = "x" * 1000 + " MemoryError"  # long lines are not searched to their end
    for output in ("the deck is on fire", "No such file or directory: '/no/such'", late):
        assert fix(output, 1) == ""
    assert fix("listening on port 9999", None) == ""
    for sandboxed in (True, False):  # a bot that has the network
        assert "--network" not in fix("ENETUNREACH", 1, sandboxed, network=sandboxed)


def test_the_runner_reads_no_pipe_in_the_place_of_a_program(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "bot")
    pipe = os.open(tmp_path / "bot", os.O_RDWR)
    os.write(pipe, CRLF)
    launch = LaunchSettings(Limits(), 10_000)
    assert start_fix(FailedStart("", ["./bot"], tmp_path, 9999, 1, launch)) == ""
    os.close(pipe)


def test_check_says_the_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for command, program, words in FAILING:
        (tmp_path / "bot.py").write_bytes(program)
        (tmp_path / "bot.py").chmod(0o755)
        status, report = checked("--command", command, "--start-ms", "60000")
        (failure,) = failures(report)
        assert status == 1
        assert words in failure["mend"]
        assert words not in failure["problem"]


def test_duel_join_and_run_say_the_fix_for_every_bot(tmp_path: Path) -> None:
    bots = {}
    for number, (program, _) in enumerate(BAD):
        (tmp_path / f"bot{number}.py").write_bytes(program)
        bots[f"bad{number}"] = f"python {tmp_path}/bot{number}.py"
    duel = ("duel", bots["bad0"], "greedy", "--game", "dasan")
    join = ("join", "http://127.0.0.1:9", "ann", bots["bad0"])
    for command in (duel, join):
        done = stich(*command, "--no-sandbox")
        assert done.returncode == 1
        assert BAD[0][1] in " ".join(done.stderr.split())
        assert "same folder" not in done.stderr, "a warning for organisers"
    done = stich("run", write(tmp_path, bots, deals=1), "--out", tmp_path / "run")
    assert done.returncode == 1
    for name, (_, words) in zip(bots, BAD, strict=True):
        assert name in done.stderr
        assert words in " ".join(done.stderr.split())
