"""`--env`: a variable of the caller is passed on to the caller's own bots, and kept nowhere."""

import shlex
import sys
from pathlib import Path

import pytest

from tests.support.cups import ROOT, stich

NEEDY = f"""
import os, runpy, sys
sys.path.insert(0, {str(ROOT)!r})
os.environ["MY_KEY"]
runpy.run_module("bots.greedy", run_name="__main__")
"""
COMMANDS = {
    "check": "check --command BOT --game dasan --quick --json",
    "duel": "duel BOT greedy --game dasan --deals 1 --out OUT --json",
    "play": "play dasan --with BOT",
    "bench": "bench BOT --game ninefivetwo --opponents sensible --quick --json OUT/result.json",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_bot_gets_the_variables_that_are_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "S3cret")
    program = tmp_path / "bot.py"
    program.write_text(NEEDY)
    out = tmp_path / "out"
    out.mkdir(mode=0o700)
    words = {"BOT": shlex.join([sys.executable, str(program)]), "OUT": str(out)}
    command = COMMANDS[name].replace("OUT", str(out)).split()
    command = [words.get(word, word) for word in [*command, "--no-sandbox"]]
    without = stich(*command, input="q\n")
    assert without.returncode in (1, 2)
    assert "MY_KEY" in without.stdout + without.stderr
    done = stich(*command, "--env", "MY_KEY", input="q\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "S3cret" not in done.stdout + done.stderr
    assert all(b"S3cret" not in file.read_bytes() for file in out.rglob("*") if file.is_file())


def test_a_variable_that_is_not_set_is_refused_before_anything_is_started() -> None:
    done = stich("duel", "greedy", "random", "--game", "dasan", "--env", "NO_SUCH_KEY")
    assert done.returncode == 2
    assert "export NO_SUCH_KEY=VALUE" in done.stderr
