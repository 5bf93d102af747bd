"""What a bot in a sandbox can tell another sandbox, and the copies of a bot's folder."""

import os
import shlex
import shutil
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.support.tournament.cups import HOSTILE, bot, needs_sandbox, stich, toys, write
from tests.support.tournament.sandboxes import launched, output, printed
from tools.hostile.channels import CHANNELS
from tournament.bot.launch import environment, launch_of_cup
from tournament.bot.sandbox.folder_copy import LIMIT_MB, remove_copy
from tournament.bot.started_bot import BotProcess, StartedBot, start
from tournament.bot.url_bot import StartError
from tournament.config.cup import Bot, Cup
from tournament.formats.round_robin import RoundRobin

pytestmark = needs_sandbox


def conversation(channel: str, folder: Path = HOSTILE, *, copies: bool = False) -> str:
    """What a bot hears through a channel, while another process of the bot tells the letter x.

    The processes have a sandbox each. They mark files in `folder`, or of Python if that is HOSTILE.
    """
    here = [str(folder)] if folder != HOSTILE else []
    program = "hostile" if here else str(HOSTILE)
    tells, hears = (
        Bot("x", shlex.join([sys.executable, program, how, channel, *here]))
        for how in ("tells", "hears")
    )
    launch = launched(tells, folder, copies=copies)
    env = environment(shlex.split(str(tells.command)), 1)
    with closing(BotProcess(tells, env, launch)) as first:
        while "told" not in first.output():
            assert first.status() is None, first.output()
        return output(hears, launch)


@pytest.mark.parametrize("channel", sorted({*CHANNELS} - {"page cache", "pipe"}))
def test_only_futexes_of_the_system_tell_another_sandbox(channel: str) -> None:
    """No locks, however the system call is written; no leases, write hints, notifications. A filter
    cannot tell futexes from those of a bot's own processes."""
    assert conversation(channel) == ("heard x\n" if channel == "futex" else "heard \0\n")


def test_databases_work_without_locks() -> None:
    assert printed(bot("locks")) == "delete 2 ok\nwal 2 ok\n"


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """A bot's folder, with files to mark, beside the program."""
    shutil.copytree(HOSTILE, tmp_path / "marks" / "hostile")
    for number in range(8):
        path = tmp_path / "marks" / f"{number}.py"
        path.write_bytes(b"x" * 5000)
        with path.open("rb") as file:
            os.fsync(file)
        os.mkfifo(path.with_suffix(".pipe"))
    return tmp_path / "marks"


@pytest.mark.parametrize("channel", ["futex", "page cache", "pipe"])
def test_a_copy_of_the_folder_tells_no_other_seating(channel: str, marks: Path) -> None:
    """What is told by files that both processes see is not told by copies."""
    assert conversation(channel, marks, copies=True) == "heard \0\n"


def test_the_page_cache_tells_who_sees_the_same_file(marks: Path) -> None:
    """Open for the files of the system, which are not copied."""
    path = marks / "0.py"
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        with suppress(BlockingIOError):
            if os.preadv(file.fileno(), [bytearray(1)], 0, os.RWF_NOWAIT):
                pytest.skip("a file system that keeps files in memory")
    assert conversation("page cache", marks) == "heard x\n"


def test_each_process_has_a_copy_of_its_folder(hall: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what is secret, and without other copies. Folders that may not be written are
    removed too."""
    copies = hall / "state" / "copies"
    copies.mkdir()
    monkeypatch.setenv("TMPDIR", str(copies))
    (hall / "bob" / "link").symlink_to("bot.py")
    (hall / "bob").chmod(0o555)
    trying = Bot("x", "sh -c 'cat bob/link notes.txt; ls; sleep 1000'")
    launch = launched(trying, hall, secret=[hall / "cup.toml"], copies=True)
    with closing(BotProcess(trying, environment(["sh"], 1), launch)) as process:
        while len(process.output().split()) < 4:
            assert process.status() is None, process.output()
        assert process.output() == "BOBNOTESalice\nbob\nnotes.txt\nstate\n"
        assert len([*copies.glob("stich-copy-*")]) == 1
    assert os.listdir(copies) == []
    with closing(BotProcess(trying, environment(["sh"], 1), launch)):
        pass  # which ends the process perhaps while its folder is copied
    assert os.listdir(copies) == []
    with closing(BotProcess(trying, environment(["sh"], 1), launch)) as process:
        assert process.wait_for_copy()
        process._supervisor.kill()  # the runner then removes what is left
    assert [*copies.glob("stich-copy-*")] == []


def test_a_copy_that_fails_is_a_start_error(hall: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the supervisor dies while it copies."""
    trying = Bot("x", "python bot.py", dir="bob")
    launch = launched(trying, hall, copies=True)
    started = StartedBot(trying, launch)
    started.process._supervisor.kill()
    started.process._supervisor.wait()
    with pytest.raises(StartError, match="cannot be started: its supervisor is gone"):
        started.ready()
    monkeypatch.setenv("TMPDIR", str(hall / "nowhere"))
    with pytest.raises(StartError, match=r"copied to .*/nowhere \(.*free some space"):
        start(trying, launch)


def test_a_copy_that_cannot_be_removed_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    remove_copy(str(tmp_path))
    assert tmp_path.is_dir()


def test_a_folder_that_is_too_large_to_copy_is_refused(tmp_path: Path) -> None:
    """Unless no cards are shared."""
    (tmp_path / "large").mkdir()
    with (tmp_path / "large" / "model").open("wb") as file:
        file.truncate((LIMIT_MB << 20) + 1)
    large = {"command": "python bot.py", "dir": "large"}
    cup = write(tmp_path, {**toys(2), "x": large}, deals=1, sandbox=None)
    done = stich("run", cup, "--out", tmp_path / "run")
    assert done.returncode == 1
    assert f"has more than the {LIMIT_MB} MB of which each process" in done.stderr
    assert 'set cards = "fresh" in [format]' in done.stderr
    bots = (Bot("x", "./x", dir="large"),)
    fresh = Cup("c", "doudizhu", 3, bots, format=RoundRobin(cards="fresh"))
    assert (launch_of_cup(fresh, tmp_path)[0].sandboxes or {})["x"].copied is None
