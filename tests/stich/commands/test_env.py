"""Variables that are passed to bots, by `--env` or by the cup: a run keeps none of their values."""

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.tournament.cups import (
    ROOT,
    code_and_text,
    json_lines,
    stich,
    succeed,
    toys,
    write,
)

NEEDY = f"""import os, runpy, sys
sys.path.insert(0, {str(ROOT)!r})
os.environ["MY_KEY"]
runpy.run_module("bots.greedy", run_name="__main__")
"""
COMMANDS = {
    "check": "check --command {bot} --game dasan --quick --json",
    "duel": "duel {bot} greedy --game dasan --deals 1 --out {out} --json",
    "play": "play dasan --with {bot}",
    "bench": "bench {bot} --game ninefivetwo --blocks 1 --json {out}/result.json",
}


@pytest.fixture
def command(tmp_path: Path) -> str:
    (tmp_path / "bot.py").write_text(NEEDY)
    return shlex.join([sys.executable, str(tmp_path / "bot.py")])


@pytest.mark.parametrize("name", COMMANDS)
def test_a_bot_gets_the_variables_that_are_named(
    name: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "S3cret")
    out = tmp_path / "out"
    out.mkdir(mode=0o700)
    line = COMMANDS[name].format(bot=shlex.quote(command), out=out)
    words = [*shlex.split(line), "--no-sandbox"]
    code, text = code_and_text(*words)
    assert (code in (1, 2), "MY_KEY" in text) == (True, True)
    done = stich(*words, "--env", "MY_KEY", input="q\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "S3cret" not in done.stdout + done.stderr
    assert all(b"S3cret" not in file.read_bytes() for file in out.rglob("*") if file.is_file())


@pytest.mark.parametrize("key", ["env.MY_KEY", "env_from"])
def test_a_run_shows_no_variable_of_a_cup(
    key: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, out = tmp_path / "run", tmp_path / "out"
    for deals, value in enumerate(("S3cret", "S3cret", "0ther"), 1):
        monkeypatch.setenv("MY_KEY", value)
        passed = value if key == "env.MY_KEY" else ["MY_KEY"]
        bots: dict[str, Any] = {**toys(2), "needy": {"command": command, key: passed}}
        cup = write(tmp_path, bots, deals=deals)
        if deals == 1:
            assert json_lines("run", cup, "--estimate")[-1]["faults"] == 0
        done = stich("run", cup, "--out", run)
        fails = (key, deals) == ("env.MY_KEY", 3)
        assert done.returncode == fails, done.stderr
        assert ('MY_KEY in env of "needy" has another value' in done.stderr) == fails
    succeed("publish", run, "-o", out)
    succeed("export", run, "--format", "jsonl", "-o", out / "matches.jsonl")
    files = [file for file in (*run.rglob("*"), *out.rglob("*")) if file.is_file()]
    assert len(files) > 5
    assert all(v not in file.read_bytes() for file in files for v in (b"S3cret", b"0ther"))


def test_an_unset_variable_is_refused_before_bots_start(tmp_path: Path) -> None:
    bots: dict[str, Any] = {**toys(2), "needy": {"command": "true", "env_from": ["NO_SUCH_KEY"]}}
    code, text = code_and_text("run", write(tmp_path, bots), "--out", tmp_path / "run")
    says = r"bots\[3\]\.env_from: NO_SUCH_KEY is not set; .*export NO_SUCH_KEY=VALUE"
    assert (code, bool(re.search(says, text))) == (2, True), text
