import os
import re
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO

import pytest

import games
from stich.cli import COMMANDS
from tests.support.tournament import played
from tests.support.tournament.cups import ROOT, served_toys, standings, stich, write

COMPLETION = {"_STICH_COMPLETE": "bash_complete", "COMP_WORDS": "stich ", "COMP_CWORD": "1"}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    done = stich(command, "--help")
    assert done.returncode == 0
    assert re.search(rf"Examples?:\n +stich {command} ", done.stdout)


@pytest.mark.parametrize(
    ("variables", "line"), [({}, "^  ([a-z-]+)  "), (COMPLETION, "^plain,([a-z-]+)$")]
)
def test_help_and_completion_list_all_commands_and_load_none(
    variables: dict[str, str], line: str
) -> None:
    words = [sys.executable, "-X", "importtime", "-m", "stich", "--help"]
    env = {**os.environ, **variables}
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, env=env, check=True)
    listed = done.stdout.rpartition("Rules:")[2]
    assert re.findall(line, listed, re.MULTILINE) == list(COMMANDS)
    loaded = re.findall(r"\| +(\S+)$", done.stderr, re.MULTILINE)
    assert "stich.cli" in loaded
    assert not {"rich", "sqlalchemy", "numpy", "tournament.config"}.intersection(loaded)


def test_the_version_says_which_rules_run() -> None:
    rules = "compiled" if games.COMPILED else "pure Python"
    assert stich("--version").stdout == f"stich {version('stich')} (rules: {rules})\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("standing",), "No such command 'standing'. Did you mean `stich standings`?"),
        (("xyz",), "No such command 'xyz'."),
        (("trust", "3fa8b2"), "3fa8b2: is neither a folder nor a public key, which has 64 "),
    ],
)
def test_a_wrong_word_is_answered_with_what_was_meant(words: tuple[str, ...], says: str) -> None:
    done = stich(*words)
    assert (done.returncode, says in done.stderr) == (2, True), done.stderr


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
