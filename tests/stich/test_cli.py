"""The table of commands, and their help."""

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from click.testing import CliRunner

import games
from stich.cli import COMMANDS, cli
from stich.commands.common import command as make_command
from tests.support.cups import ROOT, stich
from tournament.config.parse import CupError
from tournament.errors import StichError
from tournament.store.engine import StoreError


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    done = stich(command, "--help")
    assert done.returncode == 0
    assert re.search(rf"Examples?:\n +stich {command} ", done.stdout)


def test_the_help_lists_every_command() -> None:
    listed = stich("--help").stdout.partition("Rules:")[2]
    assert re.findall(r"^  ([a-z-]+)  ", listed, re.MULTILINE) == list(COMMANDS)


def test_help_loads_no_command() -> None:
    program = (
        "import sys; from click.testing import CliRunner; from stich.cli import cli\n"
        "assert CliRunner().invoke(cli, ['--help']).exit_code == 0\n"
        "print(*sys.modules.keys() & {'rich', 'sqlalchemy', 'numpy', 'tournament.config'})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("\n", "")


@pytest.mark.parametrize("words", [["run"], ["arena", "--port", "0"], ["invite", "--out", "run"]])
def test_errors_in_a_cup_exit_with_2(words: list[str], tmp_path: Path) -> None:
    cup = tmp_path / "cup.toml"
    cup.write_text('name = "Cup"\nplyers = 3\n')
    command, *options = words
    done = stich(command, cup, *(["ann"] if command == "invite" else []), *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{cup}:2: plyers: unknown key" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("error", "code"), [(StoreError("It is wrong."), 1), (CupError(["It is wrong."]), 2)]
)
def test_an_error_exits_with_its_message_and_code(error: StichError, code: int) -> None:
    def work() -> None:
        raise error

    result = CliRunner().invoke(make_command(work))
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", "It is wrong.\n")


def test_the_version_says_which_rules_run() -> None:
    rules = "compiled" if games.COMPILED else "pure Python"
    result = CliRunner().invoke(cli, ["--version"])
    assert result.exit_code == 0
    assert result.output == f"stich {version('stich')} (rules: {rules})\n"
