"""Folders and programs of bots that are not there are errors of the cup."""

import os
from pathlib import Path

import pytest

from tests.support.tournament import played
from tests.support.tournament.cups import stich, toys, write
from tournament.bot.launch import missing
from tournament.config.cup import Bot
from tournament.store.store import Store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    for name in ("bot", "text"):
        (tmp_path / "mine" / name).write_text("#!/bin/sh\n")
    (tmp_path / "mine" / "bot").chmod(0o755)
    return tmp_path


def test_what_is_there_is_not_missing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"../mine:{os.environ['PATH']}")
    bots = [
        Bot("x", "bot", dir="mine"),
        Bot("x", "python bot.py"),
        Bot("x", "sh -c 'exec ./bot'", dir="mine"),
        Bot("x", "./bot --fast", dir="mine"),
        Bot("x", "'mine/bot'"),
        Bot("x", url="http://127.0.0.1:9"),
        Bot("x", connect=True),
    ]
    assert list(missing(bots, folder)) == []
    assert list(missing([Bot("x", "no-such-program")], folder, programs=False)) == []


@pytest.mark.parametrize(
    ("bot", "key", "text"),
    [
        (Bot("x", "./bot", dir="none"), "dir", 'there is no folder "none"; create it, or fix the'),
        (Bot("x", "./bot", dir="n" * 5000), "dir", 'there is no folder "nnn'),
        (Bot("x", "./bot"), "command", 'there is no program "./bot"; install it, fix the'),
        (Bot("x", "no-such-program"), "command", 'there is no program "no-such-program"; inst'),
        (Bot("x", "mine"), "command", "or write the folder that it is in as dir."),
        (Bot("x", "gredy"), "command", 'bot greedy is started by "python -m bots.greedy".'),
        (Bot("x", "localhost:9000/bot"), "command", "the URL of a bot begins with http://."),
        (Bot("x", "bot", dir="mine"), "command", 'or make it executable and write "./bot".'),
        (Bot("x", "./text", dir="mine"), "command", '"./text" cannot be started; write the'),
    ],
)
def test_what_is_not_there(folder: Path, bot: Bot, key: str, text: str) -> None:
    ((*place, problem),) = missing([Bot("y", connect=True), bot], folder)
    assert place == [1, key]
    assert text in problem


def cup_of(folder: Path) -> Path:
    """A cup with a folder and a program that are not there."""
    missing = {"command": "no-such-program", "dir": "none"}
    return write(folder, {**toys(2), "toy2": missing, "z": "./z"}, deals=1)


@pytest.mark.parametrize("command", ["run", "arena"])
def test_all_that_is_missing_is_reported_with_its_lines(tmp_path: Path, command: str) -> None:
    path = cup_of(tmp_path)
    done = stich(command, path, "--out", tmp_path / "run")
    assert (done.returncode, done.stdout) == (2, "")
    lines = [line.removeprefix(f"{path}:") for line in done.stderr.splitlines()]
    assert [line.split(": ")[1] for line in lines] == ["bots[3].dir", "bots[4].command"]
    source = path.read_text().splitlines()
    assert source[int(lines[0].split(":")[0]) - 1] == 'dir = "none"'
    assert source[int(lines[1].split(":")[0]) - 1] == 'command = "./z"'
    assert not (tmp_path / "run").exists()


def test_a_withdrawn_bot_and_a_finished_run_need_nothing(tmp_path: Path) -> None:
    path = cup_of(tmp_path)
    words = ("run", path, "--out", tmp_path / "run")
    cup = played.cup(("toy0", "toy1", "toy2", "z"), deals=1)
    with played.run(tmp_path / "run", cup) as store:
        assert "another cup" in stich(*words).stderr
        store.reopen(store.run().total or 0)
        assert stich(*words).returncode == 2
    for bot in ("toy2", "z"):
        assert stich("withdraw", tmp_path / "run", bot, "--yes").returncode == 0
    with Store.open(tmp_path / "run") as store:
        assert not store.run().finished
    assert "another cup" in stich(*words).stderr
