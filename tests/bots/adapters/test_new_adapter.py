"""`stich new-bot` with a program of another platform, and the page about it."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from stich.cli import cli
from tests.support.bots.foreign import RLCARD
from tests.support.pages import blocks
from tournament.store.reader import StoreReader

PAGE = "docs/adapters.md"


def run(*words: str) -> str:
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for block in blocks(PAGE, "python"):
        name = block.partition("\n")[0].removeprefix("# ")
        (tmp_path / name).write_text(block)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("program", "inside", "name", "copies"),
    [
        (["python", "their.py"], ["python", "their.py"], "their", ["their.py"]),
        (["./a bot"], ["./a bot"], "a bot", ["a bot"]),
        (["./deep/bin/x", "data"], ["./x", "data"], "data", ["data", "x"]),
        (["cat"], ["cat"], "cat", []),
        (["/bin/cat"], ["/bin/cat"], "cat", []),
    ],
)
def test_the_program_is_copied_in(
    here: Path, program: list[str], inside: list[str], name: str, copies: list[str]
) -> None:
    for file in ("a bot", "deep/bin/x", "data/x"):
        (here / file).parent.mkdir(parents=True, exist_ok=True)
        (here / file).write_text("")
    output = run("new-bot", "botzone", "copy", "--", *program)
    text = (here / "copy" / "bot.py").read_text()
    assert f"PROGRAM = {inside!r}\n" in text
    assert f"NAME = {name!r}\n" in text
    assert str(here) not in text
    assert sorted(path.name for path in (here / "copy" / "program").iterdir()) == copies
    assert all(f"program/{copy}" in output for copy in copies)
    assert "--option botzone" in output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["botzone"], "Name the program after --, as in `stich new-bot botzone -- ./their-bot`."),
        (["python", "dir", "--", "./x"], "The kit python takes no program"),
        (["botzone", "--", "./none"], "There is no ./none; write the program as you start it"),
        (["botzone", "--", "a/x", "b/x"], "Two files of the program have one name: x, x."),
        (["botzone", "--", "python", "."], ". contains the new folder; name the program's file"),
    ],
)
def test_a_wrong_program_is_refused(here: Path, words: list[str], says: str) -> None:
    for folder in ("a", "b"):
        (here / folder).mkdir()
        (here / folder / "x").write_text("")
    before = sorted(here.iterdir())
    result = CliRunner().invoke(cli, ["new-bot", *words])
    assert (result.exit_code, says in result.output) == (2, True)
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize(("old", "new"), [("'python'", "'./none'"), ('"program"', '"none"')])
def test_a_program_that_is_not_there_is_told_at_the_start(here: Path, old: str, new: str) -> None:
    run("new-bot", "botzone", "--", "python", "their.py")
    bot = here / "botzone-bot" / "bot.py"
    bot.write_text(bot.read_text().replace(old, new))
    ended = subprocess.run([sys.executable, bot], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    says = r"cannot be started: \S*/none\S*: No such file or directory; fix PROGRAM"
    assert re.search(says, ended.stderr)


def test_an_agent_of_rlcard_is_loaded_before_the_bot_listens(here: Path) -> None:
    (here / "rlcard.py").write_text("raise ImportError('cannot unpack its files')")
    output = run("new-bot", "rlcard", "--", "nowhere:agent")
    assert "cannot prepare what the program needs (ImportError: cannot unpack its files)" in output
    bot = [sys.executable, str(here / "rlcard-bot" / "bot.py")]
    ended = subprocess.run(bot, capture_output=True, text=True, check=False)
    # Where RLCard is not installed, that is what is missing first.
    missing = "the agent cannot be loaded: ModuleNotFoundError: No module named '(nowhere|rlcard)';"
    last = ended.stderr.splitlines()[-1]
    assert re.fullmatch(rf"{missing} fix PROGRAM or FOLDER in bot\.py\.", last)


def test_the_page_from_first_to_last_step(here: Path) -> None:
    """A program of each platform is checked, and plays a cup without a fallback."""
    (here / "rlcard.py").write_text(RLCARD)
    output = ""
    for command in "".join(blocks(PAGE, "sh")).splitlines():
        words = shlex.split(command.removeprefix("stich "))
        if words[0] == "check":
            words += ["--positions", "1", "--no-sandbox"]
        if words[0] != "duel":  # it would play what the cup plays
            output += run(*words)
        if words[:2] == ["new-bot", "rlcard"]:
            shutil.copy("rlcard.py", "rlcard-bot/program")
    assert "GET / says what the bot is (their 0.1: doudizhu" in output
    assert output.count("ok   its moves are its own\n") == 3
    assert "same folder" not in output, "what the organiser of a cup is warned of"
    (cup,) = blocks(PAGE, "toml")
    cup = cup.replace("deals = 20", 'deals = 1\nseating = "fixed"').rpartition("[[bots]]")[0]
    Path("CUP.toml").write_text(cup)
    run("run", "CUP.toml", "--no-sandbox", "--out", "out")
    standings = json.loads(run("standings", "out", "--json"))["standings"]
    assert sum(sum(row["faults"].values()) for row in standings) == 0
    with StoreReader.open("out") as store:
        assert not any(record.fallbacks for record in store.matches())


def test_check_fails_an_adapter_whose_program_does_not_play(here: Path) -> None:
    """A program that repeats what it reads passed every check, with moves by `sensible`."""
    run("new-bot", "botzone", "--", "cat")
    words = ["check", "--command", "python3 botzone-bot/bot.py", "--no-sandbox", "--positions", "9"]
    reason = "by its fallback: the program's answer cannot be read ("
    failed = CliRunner().invoke(cli, words)
    assert failed.exit_code == 1
    for text in ("100% of its moves are not its own", reason, "give it more with --move-ms"):
        assert text in failed.output
    assert "--quick" not in failed.output
    assert "leave out --quick" in CliRunner().invoke(cli, [*words, "--quick"]).output
    assert reason in run(*words, "--max-fallback", "1")
