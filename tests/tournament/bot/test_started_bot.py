"""Started bots: their environment, their limits, and that they leave nothing behind."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.bots.misbehaving import REQUEST
from tests.support.tournament.cups import ROOT, all_end, bot, needs_sandbox
from tournament.bot.launch import LaunchSettings, environment, prepare_launch
from tournament.bot.protocol import Choice
from tournament.bot.started_bot import StartedBot, start
from tournament.bot.supervisor.process_tree import descendants
from tournament.bot.url_bot import Failure, StartError
from tournament.config.cup import Bot, Limits

LAUNCH = LaunchSettings(Limits(), 60_000)
SANDBOX = pytest.mark.parametrize(
    "sandbox", [False, pytest.param(True, marks=needs_sandbox)], ids=["outside", "sandbox"]
)


@contextmanager
def running(how: str, *words: str, launch: LaunchSettings = LAUNCH) -> Iterator[StartedBot]:
    with closing(start(Bot("x", command=bot(how, *words)), launch)) as started:
        yield started


def pids(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.iterdir()]


def test_a_started_bot_answers_and_is_gone_after(tmp_path: Path) -> None:
    with running("toy-1", str(tmp_path)) as started:
        assert started.about["games"] == ["doudizhu"]
        assert isinstance(started.move(REQUEST, 60), Choice)
        (pid,) = pids(tmp_path)
        assert os.getpgid(pid) == os.getsid(pid) == pid
    all_end([pid])


def test_a_bot_runs_in_its_folder_with_its_variables(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "bot.py").write_text(
        "import os, runpy; print(os.getcwd(), os.environ['LEVEL'], flush=True)\n"
        "runpy.run_module('bots.greedy', run_name='__main__')"
    )
    here = Bot("x", command="python bot.py", dir="mine", env={"LEVEL": "3"})
    launch = LaunchSettings(Limits(), 60_000, folder=tmp_path)
    with closing(start(here, launch)) as started:
        assert f"{tmp_path / 'mine'} 3" in started.output()
    with pytest.raises(StartError, match=r"its folder .*/none is not there"):
        start(Bot("x", command="python bot.py", dir="none"), launch)


def test_reference_bots_get_no_secrets() -> None:
    launch = replace(LAUNCH, env={"MY_KEY": "S3cret"})
    assert "S3cret" not in repr(launch)
    with closing(start(Bot("x", command="python -m bots.greedy"), launch)) as started:
        supervisor = started.process._supervisor.pid
        environ = [Path(f"/proc/{pid}/environ").read_bytes() for pid in descendants(supervisor)]
    assert any(b"PORT=" in variables for variables in environ)
    assert all(b"S3cret" not in variables for variables in environ)


@SANDBOX
def test_a_program_in_the_folder_of_a_bot_is_found_there(tmp_path: Path, sandbox: bool) -> None:
    (tmp_path / "mine").mkdir()
    shutil.copy("/bin/false", tmp_path / "mine" / "fails")
    fails = Bot("x", command="./fails", dir="mine")
    launch, _ = prepare_launch([fails], Limits(), 60_000, sandbox=sandbox, folder=tmp_path)
    with pytest.raises(StartError, match=r'"\./fails" ended with code 1 before'):
        start(fails, launch)


def test_its_children_go_with_it_wherever_they_hide(tmp_path: Path) -> None:
    with running("breeds", str(tmp_path)) as started:
        for _ in range(2):
            started.move(REQUEST, 60)
        os.kill(started.process._supervisor.pid, signal.SIGSTOP)  # as the bot could
    all_end(pids(tmp_path))


def test_a_bot_that_kills_its_supervisor_ends_only_itself(tmp_path: Path) -> None:
    with running("toy-1", str(tmp_path)) as started:
        started.move(REQUEST, 60)
        os.kill(started.process._supervisor.pid, signal.SIGKILL)
        assert started.process.status() == "its supervisor is gone"
        assert started.output() == ""
    all_end(pids(tmp_path))


@SANDBOX
def test_it_goes_when_the_runner_is_killed(sandbox: bool) -> None:
    """With its supervisor, and with all that it has started."""
    code = (
        "import os, signal\n"
        "from tests.support.tournament.cups import bot\n"
        "from tournament.bot.started_bot import start\n"
        "from tournament.config.cup import Bot, Limits\n"
        "from tournament.bot.launch import prepare_launch\n"
        "from tournament.bot.supervisor.process_tree import descendants\n"
        "x = Bot('x', command=bot('breeds'))\n"
        f"started = start(x, prepare_launch([x], Limits(), 60_000, sandbox={sandbox})[0])\n"
        f"started.move({REQUEST!r}, 20)\n"
        "print(*descendants(os.getpid()), flush=True); signal.pause()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as runner:
        assert runner.stdout is not None
        processes = [int(pid) for pid in runner.stdout.readline().split()]
        runner.send_signal(signal.SIGKILL)
    assert len(processes) >= 3, "a supervisor, a bot and its child"
    all_end(processes)


def test_its_environment_is_stripped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    names = "LANG PATH PORT PYTHONHASHSEED PYTHONUNBUFFERED"
    assert sorted(environment(["./bot"], 7)) == names.split()
    path = environment(["python", "-m", "bots.greedy"], 7)["PATH"]
    assert shutil.which("python", path=path) == str(Path(sys.executable).with_name("python"))


def test_memory_is_limited() -> None:
    with running("hungry", launch=LaunchSettings(Limits(memory_mb=400), 60_000)) as started:
        assert isinstance(started.move(REQUEST, 60), Failure)
        assert "MemoryError" in started.output()


def test_what_it_writes_is_kept_by_match_and_bounded() -> None:
    with running("floods") as started:
        started.move(REQUEST, 60)
        assert len(started.output()) == 64 * 1024
        started.process.clear_output()
        assert started.output() == ""


def test_a_port_is_taken_before_its_bot_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise another bot could get it, and its answers would count for the first bot."""
    slow = Bot("slow", command="sleep 60")
    with closing(StartedBot(slow, LAUNCH)) as started:
        port = int(started.url.rpartition(":")[2])
        monkeypatch.setattr("tournament.bot.started_bot._PORTS", (port, port + 1))
        with pytest.raises(StartError, match="No free port"):
            StartedBot(slow, LAUNCH)


def test_why_its_process_cannot_be_made_is_named(tmp_path: Path) -> None:
    for launch, why in (
        (replace(LAUNCH, group=str(tmp_path / "none")), r"/none/bot-\w+ cannot be made \(No"),
        (replace(LAUNCH, limits=Limits(memory_mb=1 << 50)), "cannot be prepared .*too (big|large)"),
    ):
        with pytest.raises(StartError, match=why):
            start(Bot("x", command=bot("toy-1")), launch)
