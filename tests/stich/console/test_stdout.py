"""Standard output that cannot be written: a message, or silence if the reader has gone."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import pytest

from tests.support.tournament import played
from tests.support.tournament.cups import ROOT, served_toys, standings, stich, write

FULL = "No space is left on the device. Free some; finished matches are kept."


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    played.run(folder, played.cup()).close()
    return folder


def errors_of(output: BinaryIO, *words: object) -> str:
    """The standard error of the program, which exits with 1; this is its unbuffered output."""
    argv = [sys.executable, "-u", "-m", "stich", *map(str, words)]
    done = subprocess.run(argv, stdout=output, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert done.returncode == 1
    return done.stderr


@pytest.mark.parametrize(
    "words", ["standings", "standings --help", "matches --json", "export --format parquet"]
)
def test_a_full_disk_is_reported_and_a_closed_pipe_is_silent(run: Path, words: str) -> None:
    command, *options = words.split()
    with open("/dev/full", "wb") as full:
        assert errors_of(full, command, run, *options) == f"{FULL}\n"
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as closed:
        assert errors_of(closed, command, run, *options) == ""


def test_a_run_keeps_what_is_finished(tmp_path: Path) -> None:
    with served_toys(3) as bots, open("/dev/full", "wb") as full:
        words = ("run", write(tmp_path, bots, deals=1), "--out", tmp_path / "run")
        assert errors_of(full, *words, "--json").endswith(f"{FULL}\n")
        assert stich(*words).returncode == 0
    assert standings(tmp_path / "run")["matches"] == 3
    line = shlex.join([sys.executable, "-m", "stich", *map(str, words)]) + " | head -n 1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout.count("\n"), done.stderr) == (1, "")
