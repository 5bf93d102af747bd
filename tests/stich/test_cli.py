import os
import re
import subprocess
import sys
from importlib.metadata import version

import pytest

import games
from stich.cli import COMMANDS
from tests.support.tournament.cups import ROOT, stich

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
