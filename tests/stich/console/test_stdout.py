"""Standard output that cannot be written: a message, or silence if the reader has gone."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import played
from tests.support.cups import ROOT, served_toys, standings, stich, write

FULL = "No space is left on the device. Free some; finished matches are kept."


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    played.run(folder, played.cup()).close()
    return folder


def written_to(
    output: int, *words: object, unbuffered: bool = False
) -> subprocess.CompletedProcess[str]:
    """The program with this descriptor as its standard output, which is then closed."""
    try:
        return subprocess.run(
            [sys.executable, *(["-u"] * unbuffered), "-m", "stich", *map(str, words)],
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            check=False,
        )
    finally:
        os.close(output)


def full() -> int:
    return os.open("/dev/full", os.O_WRONLY)


@pytest.mark.parametrize("words", ["standings", "matches --json", "export --format parquet"])
def test_a_full_disk_is_reported_and_a_closed_pipe_is_silent(run: Path, words: str) -> None:
    command, *options = words.split()
    done = written_to(full(), command, run, *options)
    assert (done.returncode, done.stderr) == (1, f"{FULL}\n")
    reader, writer = os.pipe()
    os.close(reader)
    done = written_to(writer, command, run, *options)
    assert (done.returncode, done.stderr) == (1, "")


def test_help_needs_room_too() -> None:
    done = written_to(full(), "standings", "--help", unbuffered=True)
    assert (done.returncode, done.stderr) == (1, f"{FULL}\n")


def test_a_run_keeps_what_is_finished(tmp_path: Path) -> None:
    with served_toys(3) as bots:
        cup, folder = write(tmp_path, bots, deals=1), tmp_path / "run"
        done = written_to(full(), "run", cup, "--out", folder, "--json")
        assert done.returncode == 1
        assert done.stderr.endswith(f"{FULL}\n")
        assert stich("run", cup, "--out", folder).returncode == 0
    assert standings(folder)["matches"] == 3
    words = [sys.executable, "-m", "stich", "run", str(cup), "--out", str(folder)]
    line = f"{shlex.join(words)} | head -n 1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout.count("\n"), done.stderr) == (1, "")
