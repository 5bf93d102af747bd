"""Standard output that cannot be written: a message, or silence if the reader has gone."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TextIO

import pytest

from stich.cli import main
from tests.tournament import played
from tests.tournament.cups import ROOT, served_toys, standings, stich, write

FULL = "Standard output cannot be written: No space left on device. "


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    played.run(folder, played.cup()).close()
    return folder


def into_full(*words: object, unbuffered: bool = False) -> subprocess.CompletedProcess[str]:
    """The program with a full disk under its standard output."""
    with open("/dev/full", "w") as full:
        return subprocess.run(
            [sys.executable, *(["-u"] * unbuffered), "-m", "stich", *map(str, words)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            check=False,
        )


def exit_code(output: TextIO, monkeypatch: pytest.MonkeyPatch, *words: object) -> object:
    """How the program ends in this process, with this standard output."""
    monkeypatch.setattr(sys, "stdout", output)
    monkeypatch.setattr(sys, "argv", ["stich", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert sys.stdout is output
    return ended.value.code


READERS = (
    "standings",
    "standings --json",
    "matches",
    "matches --json",
    "export",
    "export --format jsonl",
    "export --format parquet",
    "verify",
    "report --json",
)


@pytest.mark.parametrize("words", READERS)
def test_a_full_disk_is_a_sentence(run: Path, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    command, *options = words.split()
    with open("/dev/full", "w") as full:
        ended = exit_code(full, monkeypatch, command, run, *options)
    assert ended == f"{FULL}Free some space, or redirect it elsewhere."


@pytest.mark.parametrize("unbuffered", [False, True])
def test_help_needs_room_too(unbuffered: bool) -> None:
    """As a program: the interpreter prints nothing at exit."""
    done = into_full("standings", "--help", unbuffered=unbuffered)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose export is written in one piece, at the end."""
    folder = tmp_path_factory.mktemp("short")
    played.run(folder, played.cup(deals=1, seating="fixed")).close()
    return folder


@pytest.mark.parametrize("length", ["run", "short"])
@pytest.mark.parametrize("words", READERS)
def test_a_reader_that_has_gone_is_no_error(
    request: pytest.FixtureRequest,
    words: str,
    length: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    command, *options = words.split()
    run = request.getfixturevalue(length)
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as output:
        assert exit_code(output, monkeypatch, command, run, *options) == 1
    assert capfd.readouterr().err == ""


def test_a_reader_that_stops_reading_is_no_error(run: Path) -> None:
    """As a program in a shell."""
    command = shlex.join([sys.executable, "-m", "stich", "export", str(run)]) + " | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout.count("\n"), done.stderr) == (1, "")


def test_a_run_keeps_what_is_finished(tmp_path: Path) -> None:
    with served_toys(3) as bots:
        cup, folder = write(tmp_path, bots, deals=1), tmp_path / "run"
        done = into_full("run", cup, "--out", folder, "--json")
        assert done.returncode == 1
        resume = f"Resume with: {shlex.join(['stich', 'run', str(cup), '--out', str(folder)])}"
        assert done.stderr.endswith(f"{FULL}Every finished match is kept in {folder}. {resume}\n")
        assert stich("run", cup, "--out", folder).returncode == 0
    assert standings(folder)["matches"] == 3
    words = [sys.executable, "-m", "stich", "run", str(cup), "--out", str(folder)]
    line = f"{shlex.join(words)} | head -n 1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout.count("\n"), done.stderr) == (1, "")
