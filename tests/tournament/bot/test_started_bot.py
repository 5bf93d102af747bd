"""Started bots: their environment, their limits, and that they leave nothing behind."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.tournament import hostile
from tests.tournament.cups import all_end, bot, needs_sandbox
from tournament.bot import process, started_bot
from tournament.bot.environment import environment
from tournament.bot.http_client import Reply
from tournament.bot.launch import prepare_launch
from tournament.bot.leftovers import remove_leftovers
from tournament.bot.player import Choice, Failure
from tournament.bot.process import LaunchSettings
from tournament.bot.started_bot import StartedBot, StartError, start
from tournament.config import Bot, Cup, Limits
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
        assert started.process.status() is None
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


@pytest.mark.parametrize("sandbox", [False, pytest.param(True, marks=needs_sandbox)])
def test_a_program_in_the_folder_of_a_bot_is_found_there(tmp_path: Path, sandbox: bool) -> None:
    (tmp_path / "mine").mkdir()
    program = tmp_path / "mine" / "fails"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    fails = Bot("x", command="./fails", dir="mine")
    launch, _ = prepare_launch([fails], Limits(), 60_000, sandbox=sandbox, folder=tmp_path)
    with pytest.raises(StartError, match=r'"\./fails" ended with code 3 before'):
        start(fails, launch)


def test_its_children_go_with_it_wherever_they_hide(tmp_path: Path) -> None:
    with running("breeds", str(tmp_path)) as started:
        started.move(REQUEST, 20)
        started.move(REQUEST, 20)
    all_end(pids(tmp_path))


def test_a_bot_that_kills_its_supervisor_ends_only_itself(tmp_path: Path) -> None:
    with running("toy-1", str(tmp_path)) as started:
        started.move(REQUEST, 20)
        os.kill(started.process._supervisor.pid, signal.SIGKILL)
        assert started.process.status() == "its supervisor is gone"
        assert started.output() == ""
        assert not started.stopped()
    all_end(pids(tmp_path))


def until_stopped(bot: StartedBot) -> None:
    """Wait until it is seen that a process was stopped: a signal takes effect a little later."""
    while not bot.stopped():
        os.sched_yield()


def test_who_is_stopped_is_resumed_and_it_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bot itself, or its supervisor."""
    monkeypatch.setattr(process, "_ANSWER_S", 0.1)
    with running("toy-1", str(tmp_path)) as started:
        (pid,) = pids(tmp_path)
        assert not started.stopped()
        os.kill(pid, signal.SIGSTOP)
        until_stopped(started)
        started.process.clear_output()
        assert not started.stopped()
        os.kill(started.process._supervisor.pid, signal.SIGSTOP)
        assert started.process.status() is None
        assert started.stopped()
        assert isinstance(started.move(REQUEST, 60), Choice)


@pytest.mark.parametrize("idle", [False, True])
def test_a_program_below_a_shell_is_resumed_too(tmp_path: Path, idle: bool) -> None:
    """Also one that was stopped while the bot was idle."""
    command = f"sh -c '{bot('toy-1', str(tmp_path))}; true'"
    started = start(Bot("x", command), LAUNCH)
    try:
        (pid,) = pids(tmp_path)
        if idle:
            started.process.idle()
        os.kill(pid, signal.SIGSTOP)
        until_stopped(started)
        assert isinstance(started.move(REQUEST, 60), Choice)
    finally:
        started.close()


def test_a_bot_whose_supervisor_ends_meanwhile_has_not_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = StartedBot(Bot("x", command=bot("toy-1")), LAUNCH)
    get_about = started.get_about

    def then_kill(seconds: float) -> Reply:
        about = get_about(seconds)
        started.process._supervisor.kill()
        started.process._supervisor.wait()
        return about

    monkeypatch.setattr(started, "get_about", then_kill)
    with pytest.raises(StartError, match="its supervisor is gone"):
        started.ready()


@pytest.mark.parametrize(
    "then", ["pass", "os.kill(started.process._supervisor.pid, signal.SIGSTOP)"]
)
@pytest.mark.parametrize(
    "sandbox", [False, pytest.param(True, marks=needs_sandbox)], ids=["outside", "sandbox"]
)
def test_it_goes_when_the_runner_is_killed(sandbox: bool, then: str) -> None:
    """With its supervisor, also if that was stopped, and with all that it has started."""
    code = (
        "import sys, signal; sys.path.insert(0, sys.argv[1])\n"
        "from tests.tournament.bot.test_started_bot import *\n"
        "from tournament.bot.launch import prepare_launch\n"
        "from tournament.bot.supervisor.process_tree import descendants\n"
        "x = Bot('x', command=bot('breeds'))\n"
        f"started = start(x, prepare_launch([x], Limits(), 60_000, sandbox={sandbox})[0])\n"
        "started.move(REQUEST, 20)\n"
        f"print(*descendants(os.getpid()), flush=True); {then}; signal.pause()"
    )
    root = str(Path(__file__).parents[3])
    with subprocess.Popen(
        [sys.executable, "-c", code, root], stdout=subprocess.PIPE, text=True
    ) as runner:
        assert runner.stdout is not None
        found = [int(pid) for pid in runner.stdout.readline().split()]
        runner.send_signal(signal.SIGKILL)
    assert len(found) >= 3, "a supervisor, a bot and its child"
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
        started.process.clear_output()
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


def test_whatever_it_leaves_in_its_folder_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders that nobody may enter, and more of them within each other than a path may name."""
    monkeypatch.setattr(process, "_END_S", 60.0)
    with running("litters") as started:
        assert isinstance(started.move(REQUEST, 60), Choice)
        home = Path(started.output().split()[-1])
        assert home.is_dir()
    assert not home.exists()


@pytest.mark.serial  # other runs remove leftovers too
def test_what_a_killed_supervisor_left_behind_is_removed_before_the_next_run() -> None:
    with running("litters") as started:
        started.move(REQUEST, 60)
        home = Path(started.output().split()[-1])
        remove_leftovers()
        assert home.is_dir(), "its supervisor is alive"
        stray = subprocess.Popen(["sleep", "60"], env={**os.environ, "TMPDIR": str(home)})
        started.process._supervisor.kill()
        started.process._supervisor.wait()
        remove_leftovers()
        assert stray.wait() == -signal.SIGKILL
    assert not home.exists()


def test_the_bots_of_a_run_of_version_0_2_0_are_left_alone() -> None:
    """Their supervisors hold no lock that would show that they are alive."""
    with tempfile.TemporaryDirectory(prefix="stich-bot-") as home:
        bot_of_old = subprocess.Popen(["sleep", "60"], env={**os.environ, "TMPDIR": home})
        try:
            remove_leftovers()
            assert bot_of_old.poll() is None
            assert Path(home).is_dir()
        finally:
            bot_of_old.kill()
            bot_of_old.wait()


def test_another_program_at_the_port_of_a_dead_bot_is_not_taken_for_it() -> None:
    with running("honest") as started:
        assert isinstance(started.move(REQUEST, 60), Choice)
        started._connection.close()
        os.killpg(int(started.process._pid or 0), signal.SIGKILL)
        port = int(started.url.rpartition(":")[2])
        all_end([int(started.process._pid or 0)])
        with hostile.serving(socket.create_server(("127.0.0.1", port)), hostile.first):
            outcome = started.move(REQUEST, 60)
    assert isinstance(outcome, Failure)
    assert outcome.kind is FaultKind.UNREACHABLE
    assert "another program listens at its port" in outcome.detail


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])
def test_another_program_at_the_port_of_a_living_bot_is_not_taken_for_it(address: str) -> None:
    """At a narrower address, where it gets all connections, or at the same one, where it gets
    some."""
    with running("shares") as started:
        assert isinstance(started.move(REQUEST, 60), Choice)
        started._connection.close()
        assert isinstance(started.move(REQUEST, 60), Choice), "connected again"
        started._connection.close()
        port = int(started.url.rpartition(":")[2])
        listener = socket.create_server((address, port), reuse_port=True)
        with hostile.serving(listener, hostile.first):
            outcome = started.move(REQUEST, 60)
    assert isinstance(outcome, Failure)
    assert "another program listens at its port" in outcome.detail
