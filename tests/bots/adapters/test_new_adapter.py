"""`stich new-bot` with a program of another platform, and the page about it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from stich.cli import cli
from tests.support.foreign import AGENTS, CONTEST, ONCE, RLCARD
from tests.support.pages import blocks
from tournament.config.parse import parse_cup
from tournament.store.reader import StoreReader

BOTZONE = ["new-bot", "botzone", "--", "python", "their.py"]


def run(*words: str) -> str:
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with a program for Botzone."""
    (tmp_path / "their.py").write_text(ONCE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_names_the_program_and_where_it_runs(here: Path) -> None:
    assert "It starts the program named in bot.py." in run(*BOTZONE)
    text = (here / "botzone-bot" / "bot.py").read_text()
    assert "PROGRAM = ['python', 'their.py']\n" in text
    assert f"FOLDER = {str(here)!r}" in text
    run("new-bot", "botzone", "other", "--", "./their bot")
    assert "PROGRAM = ['./their bot']\n" in (here / "other" / "bot.py").read_text()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["botzone"], "Name the program after --, as in `stich new-bot botzone -- ./their-bot`."),
        (["python", "dir", "--", "./x"], "The kit python takes no program"),
        (["botzone", "--"], "Name the program after --"),
    ],
)
def test_a_program_too_few_or_too_many_is_refused(here: Path, words: list[str], says: str) -> None:
    result = CliRunner().invoke(cli, ["new-bot", *words])
    assert (result.exit_code, says in result.output) == (2, True)
    assert [path.name for path in here.iterdir()] == ["their.py"]


@pytest.mark.parametrize(
    ("old", "new"), [("'python'", "'./none'"), ("FOLDER = '", "FOLDER = '/none")]
)
def test_a_program_that_is_not_there_is_told_at_the_start(here: Path, old: str, new: str) -> None:
    run(*BOTZONE)
    bot = here / "botzone-bot" / "bot.py"
    bot.write_text(bot.read_text().replace(old, new))
    ended = subprocess.run([sys.executable, bot], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    says = r"cannot be started: \S*/none\S*: No such file or directory; fix PROGRAM"
    assert re.search(says, ended.stderr)


def test_an_agent_of_rlcard_is_loaded_before_the_bot_listens(here: Path) -> None:
    run("new-bot", "rlcard", "--", "nowhere:agent")
    bot = [sys.executable, str(here / "rlcard-bot" / "bot.py")]
    ended = subprocess.run(bot, capture_output=True, text=True, check=False)
    # Where RLCard is not installed, that is what is missing first.
    assert re.fullmatch(
        "the agent cannot be loaded: ModuleNotFoundError: No module named '(nowhere|rlcard)';"
        r" fix PROGRAM or FOLDER in bot\.py\.",
        ended.stderr.splitlines()[-1],
    )


def test_the_cup_of_the_page_spells_its_options_out() -> None:
    (block,) = blocks("docs/adapters.md", "toml")
    cup = parse_cup(block.encode(), "cup.toml")
    assert cup.to_dict()["options"] == {
        "deals": 1,
        "redeals": 9,
        "quad_pair_as_solos": False,
        "spring": True,
        "reveal_talon": True,
        "single_round": True,
    }


def test_a_cup_with_a_program_of_each_platform(here: Path) -> None:
    (here / "contest.py").write_text(CONTEST)
    (here / "rlcard.py").write_text(RLCARD)
    (here / "agents.py").write_text(AGENTS)
    run(*BOTZONE)
    run("new-bot", "doudizhuver", "--", "python", "contest.py")
    run("new-bot", "rlcard", "--", "agents:agent")
    words = ["new-cup", "CUP.toml", "--name", "X", "--game", "doudizhu", "--options", "botzone"]
    platforms = ("botzone", "doudizhuver", "rlcard")
    bots = [f"{each}=python3 {each}-bot/bot.py" for each in platforms]
    run(*words, "--deals", "1", *(word for bot in bots for word in ("--bot", bot)))
    run("run", "CUP.toml", "--no-sandbox", "--out", "out")
    found = json.loads(run("standings", "out", "--json"))
    assert sum(sum(line["faults"].values()) for line in found["standings"]) == 0
    with StoreReader.open("out") as store:
        assert not any(record.fallbacks for record in store.matches())


def test_check_fails_an_adapter_whose_program_does_not_play(here: Path) -> None:
    """A program that repeats what it reads passed every check, with moves by `sensible`."""
    run("new-bot", "botzone", "--", "cat")
    words = ["check", "--command", "python3 botzone-bot/bot.py", "--no-sandbox", "--positions", "9"]
    failed = CliRunner().invoke(cli, words)
    assert failed.exit_code == 1
    assert "100% of its moves are not its own" in failed.output
    assert "by its fallback: the program's answer cannot be read (" in failed.output
    allowed = CliRunner().invoke(cli, [*words, "--max-fallback", "1"])
    assert allowed.exit_code == 0, allowed.output
    assert "by its fallback: the program's answer cannot be read (" in allowed.output
