"""Started bots: their environment, their limits, and that they leave nothing behind."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.tournament import hostile
from tests.tournament.cups import all_end, bot, toys, write
from tournament.bot import process, started_bot
from tournament.bot.http_client import Reply
from tournament.bot.player import Choice, Failure
from tournament.bot.process import LaunchSettings
from tournament.bot.sandbox import SandboxError, prefix
from tournament.bot.started_bot import StartedBot, StartError, environment, start
from tournament.config import Bot, Cup, Limits, read_cup
from tournament.records import FaultKind
from tournament.run.bot_pool import BotPool

LAUNCH = LaunchSettings(Limits(), 60_000)
REQUEST = json.dumps(
    {"turn": 1, "match": "m", "moves": ["pass", "bid:1"], "view": {"hand": []}}
).encode()


@contextmanager
def running(how: str, *words: str, launch: LaunchSettings = LAUNCH) -> Iterator[StartedBot]:
    started = start(Bot("x", command=bot(how, *words)), launch)
    try:
        yield started
    finally:
        started.close()


def pids(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.iterdir()]


def test_a_started_bot_answers_and_is_gone_after(tmp_path: Path) -> None:
    with running("toy-1", str(tmp_path)) as started:
        assert started.about["games"] == ["doudizhu"]
        assert isinstance(started.move(REQUEST, 60), Choice)
        assert started.status() is None
        (pid,) = pids(tmp_path)
        assert os.getpgid(pid) == pid
        assert os.getsid(pid) == pid != os.getsid(0)
    all_end([pid])


def test_a_bot_runs_in_its_folder_with_its_variables(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "bot.py").write_text(
        "import os, bots.greedy; print(os.getcwd(), os.environ['LEVEL'], flush=True)\n"
        "bots.greedy.main()"
    )
    here = Bot("x", command="python bot.py", dir="mine", env={"LEVEL": "3"})
    launch = LaunchSettings(Limits(), 60_000, folder=tmp_path)
    started = start(here, launch)
    try:
        assert f"{tmp_path / 'mine'} 3" in started.output()
    finally:
        started.close()
    with pytest.raises(StartError, match=r"its folder .*/none is not there"):
        start(Bot("x", command="python bot.py", dir="none"), launch)


def test_its_children_go_with_it_wherever_they_hide(tmp_path: Path) -> None:
    with running("breeds", str(tmp_path)) as started:
        started.move(REQUEST, 20)
        started.move(REQUEST, 20)
    all_end(pids(tmp_path))


@pytest.mark.parametrize(("how", "number"), [("breeds", signal.SIGSTOP), ("toy-1", signal.SIGKILL)])
def test_a_bot_that_stops_or_kills_its_supervisor_ends_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, number: signal.Signals
) -> None:
    with running(how, str(tmp_path)) as started:
        started.move(REQUEST, 20)
        monkeypatch.setattr(process, "_ANSWER_S", 0.1)
        os.kill(started._process._supervisor.pid, number)
        assert started.status() == "its supervisor is gone"
        assert started.output() == ""
    all_end(pids(tmp_path))


def test_a_bot_whose_supervisor_ends_meanwhile_has_not_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = StartedBot(Bot("x", command=bot("toy-1")), LAUNCH)
    get_about = started.get_about

    def then_kill(seconds: float) -> Reply:
        about = get_about(seconds)
        started._process._supervisor.kill()
        started._process._supervisor.wait()
        return about

    monkeypatch.setattr(started, "get_about", then_kill)
    with pytest.raises(StartError, match="its supervisor is gone"):
        started.ready()


@pytest.mark.parametrize(
    "then", ["pass", "os.kill(started._process._supervisor.pid, signal.SIGSTOP)"]
)
def test_it_goes_when_the_runner_is_killed(tmp_path: Path, then: str) -> None:
    code = (
        "import sys, signal; sys.path.insert(0, sys.argv[1])\n"
        "from tests.tournament.bot.test_started_bot import *\n"
        "started = start(Bot('x', command=bot('breeds', sys.argv[2])), LAUNCH)\n"
        f"started.move(REQUEST, 20); {then}\n"
        "print('ready', flush=True); signal.pause()"
    )
    root = str(Path(__file__).parents[3])
    with subprocess.Popen(
        [sys.executable, "-c", code, root, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as runner:
        assert runner.stdout is not None
        assert runner.stdout.readline() == "ready\n"
        runner.send_signal(signal.SIGKILL)
    found = pids(tmp_path)
    assert found
    all_end(found)


def test_its_environment_is_stripped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    assert set(environment(["./bot"], 7)) == {
        "LANG",
        "PATH",
        "PORT",
        "PYTHONHASHSEED",
        "PYTHONUNBUFFERED",
    }


def test_python_is_this_python() -> None:
    path = environment(["python", "-m", "bots.greedy"], 7)["PATH"]
    assert shutil.which("python", path=path) == str(Path(sys.executable).with_name("python"))


def test_memory_is_limited() -> None:
    with running("hungry", launch=LaunchSettings(Limits(memory_mb=400), 60_000)) as started:
        outcome = started.move(REQUEST, 60)
        assert isinstance(outcome, Failure)
        assert outcome.kind is FaultKind.UNREACHABLE
        assert "MemoryError" in started.output()


def test_what_it_writes_is_kept_by_match_and_bounded() -> None:
    with running("floods") as started:
        started.move(REQUEST, 60)
        assert len(started.output()) == 64 * 1024
        started.clear_output()
        assert started.output() == ""


def test_a_port_that_is_taken_meanwhile_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program that answers at the bot's port is not mistaken for the bot."""
    with hostile.running(hostile.first) as url:
        taken = int(url.rpartition(":")[2])
        free = started_bot._free_port()
        ports = iter([taken, free])
        monkeypatch.setattr(started_bot, "_free_port", lambda: next(ports))
        with running("honest") as started:
            assert started.url.endswith(f":{free}")


def test_what_it_writes_while_it_starts_belongs_to_its_first_match() -> None:
    command = f"sh -c 'echo waking up; exec {bot('toy-1')}'"
    bots = (Bot("x", command),)
    bot_pool = BotPool(Cup("Cup", "doudizhu", 1, bots), LAUNCH)
    try:
        assert [bot for bot, _ in bot_pool.start(bots)] == list(bots)
        assert [bot_pool.seat(["x"])[0].output() for _ in range(2)] == ["waking up\n", ""]
    finally:
        bot_pool.close()


def sandboxed() -> None:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    done = subprocess.run(
        ["bwrap", "--unshare-user", "--unshare-net", "--ro-bind", "/", "/", "true"],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("this system does not allow sandboxes")


@pytest.mark.parametrize("inside", [True, False], ids=["sandbox", "no sandbox"])
def test_a_sandbox_shows_nothing_of_the_outside(tmp_path: Path, inside: bool) -> None:
    """What a spying bot finds, in a sandbox and without one."""
    if inside:
        sandboxed()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.sqlite").touch()
    (tmp_path / "a" / "older").mkdir(parents=True)
    (tmp_path / "a" / "older" / "run.sqlite").write_text("OLD SEED")
    (tmp_path / "a" / "other.toml").write_text('seed = "NEXT SEED"\n[[bots]]\n')
    (tmp_path / "a" / "notes.toml").write_text("NOTES")
    with hostile.running(hostile.first) as url:
        spy = ("spies", str(tmp_path / "cup.toml"), url)
        more = ["[sandbox]\nenabled = true"] if inside else []
        path = write(tmp_path, {"spy": bot(*spy), **toys(2)}, *more)
        words = prefix(read_cup(path), str(path), tmp_path / "run")
        with running(*spy, launch=LaunchSettings(Limits(), 60_000, words)) as started:
            assert isinstance(started.move(REQUEST, 60), Choice)
            output = started.output()
    Path(hostile.__file__).with_name("scribble").unlink(missing_ok=True)
    assert ("no outside" in output) is inside
    assert ('seed = "test"' in output) is not inside
    assert ("run.sqlite" in output) is not inside
    assert ("OLD SEED" in output) is not inside
    assert ("NEXT SEED" in output) is not inside
    assert "NOTES" in output
    assert output.count("cannot write") >= (2 if inside else 0)
    assert "SECRET" not in output
    assert "PYTEST" not in output


def test_a_sandbox_covers_the_folder_of_all_runs_unless_a_bot_lives_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandboxed()
    monkeypatch.chdir(tmp_path)
    run, mine = tmp_path / "runs" / "spring", tmp_path / "runs" / "mine"
    for folder in (run, mine):
        folder.mkdir(parents=True)
        (folder / "run.sqlite").touch()
    (mine / "bot.py").touch()
    words = prefix(read_cup(write(tmp_path, toys(3), "[sandbox]\nenabled = true")), "cup.toml", run)
    assert str(tmp_path / "runs") in words
    assert str(run) not in words
    lives = {"x": f"python {mine / 'bot.py'}", **toys(2)}
    words = prefix(read_cup(write(tmp_path, lives, "[sandbox]\nenabled = true")), "cup.toml", run)
    assert str(tmp_path / "runs") not in words
    assert words[words.index(str(run)) - 1] == "--tmpfs"
    assert words[words.index(str(mine / "run.sqlite")) - 1] == os.devnull


def test_missing_bubblewrap_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cup = read_cup(write(tmp_path, toys(3), "[sandbox]\nenabled = true"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match="install the package bubblewrap"):
        prefix(cup, "cup.toml", tmp_path)
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(SandboxError, match="No permissions to create new namespace"):
        prefix(cup, "cup.toml", tmp_path)
