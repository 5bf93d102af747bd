"""The sandbox: what a bot in it sees, and what it cannot do."""

import os
import platform
import pwd
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.bots.misbehaving import REQUEST
from tests.support.tournament.cups import HOSTILE, bot, needs_sandbox, stich, toys, write
from tests.support.tournament.sandboxes import launched, printed
from tools import hostile
from tournament.bot.launch import must_sandbox, prepare_launch, shared_folders
from tournament.bot.protocol import Choice
from tournament.bot.sandbox.bubblewrap import HOME_MB, SHARED_MEMORY_MB, SandboxError, sandboxes
from tournament.bot.started_bot import StartedBot, start
from tournament.bot.url_bot import Failure, StartError
from tournament.config.cup import Bot, Cup, Limits
from tournament.records import FaultKind


@contextmanager
def running(command: str, folder: Path = HOSTILE, **options: Any) -> Iterator[StartedBot]:
    """A bot in a sandbox that has made a move."""
    sandboxed = Bot("x", command)
    with closing(start(sandboxed, launched(sandboxed, folder, **options))) as started:
        assert isinstance(started.move(REQUEST, 60), Choice)
        yield started


def spied(hall: Path, **options: Any) -> str:
    """What a spy prints that is started in the folder of the cup, and still makes its moves."""
    shutil.copytree(HOSTILE, hall / "hostile", ignore=shutil.ignore_patterns("__pycache__"))
    cup = hall / "cup.toml"
    with hostile.running(hostile.first) as url:
        command = f"{sys.executable} hostile spies {cup} {url}"
        with running(command, hall, secret=(cup,), **options) as started:
            return started.output()


def test_a_sandbox_shows_nothing_of_the_outside(hall: Path) -> None:
    output = spied(hall)
    for line in ("no outside", "cup hidden", "runs []", "key hidden", "notes NOTES"):
        assert line in output
    assert (output.count("cannot write"), "PYTEST" in output) == (2, False)


def test_with_the_network_a_bot_reaches_a_server(hall: Path) -> None:
    """And it is asked there, in a sandbox all the same."""
    output = spied(hall, network=True)
    assert "reached the outside" in output
    assert "key hidden" in output
    two = [Bot(name, f"./{name}") for name in ("x", "y")]
    _, notice = prepare_launch(two, Limits(), 1, sandbox=True, network=True, folder=hall)
    assert notice.startswith("Warning: the bots have the network, so they can reach each other")


def test_a_bot_sees_its_own_folder_and_nothing_around_it(hall: Path) -> None:
    (hall / "alice" / "mine.txt").write_text("ALICE")
    assert printed("grep -rhs . .. /etc/shadow", hall, "alice") == "ALICE\n"


@pytest.mark.parametrize("target", ["../runs/spring/run.sqlite", "../bob/bot.py", "../cup.toml"])
def test_a_link_in_the_folder_of_a_bot_leads_nowhere(hall: Path, target: str) -> None:
    near, far = hall / "alice" / "bold", hall / "alice" / "far"
    near.symlink_to(target)
    far.symlink_to((hall / "alice" / target).resolve())
    assert near.read_text() == far.read_text(), "outside it leads there"
    command = f"sh -c 'cat bold far {target}; echo tried' bold far"
    trying = Bot("x", command, dir="alice", env={"STYLE": "bold", "PATHS": "far:bold"})
    with pytest.raises(StartError):
        start(trying, launched(trying, hall))
    output = printed(command, hall, "alice")
    assert [word in output for word in ("tried", "SEED", "BOB")] == [True, False, False]


def test_loops_of_links_and_deep_folders_do_no_harm(hall: Path) -> None:
    (hall / "alice" / "loop").symlink_to("loop")
    with chdir(hall / "alice"):
        for _ in range(1200):
            os.mkdir("d")
            os.chdir("d")
    try:
        assert printed("sh -c 'cat loop; echo tried'", hall, "alice").endswith("tried\n")
    finally:  # pytest's own way to delete it is recursive, and fails
        subprocess.run(["rm", "-r", str(hall / "alice" / "d")], check=True)


def test_a_folder_that_is_a_link_or_holds_too_much_is_refused(
    hall: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, leads_to in enumerate(("../runs", "eve1", "..")):
        (hall / "alice" / f"eve{number}").symlink_to(leads_to)
        with pytest.raises(SandboxError, match="is a link or behind one"):
            launched(Bot("x", "./x", dir=f"alice/eve{number}"), hall)
    monkeypatch.setenv("HOME", str(hall / "alice"))
    mine = Bot("x", "python bot.py")
    for folder in (hall, hall / "alice", Path(tempfile.gettempdir()), Path("/")):
        with pytest.raises(SandboxError, match="holds far more than a bot"):
            launched(mine, folder)
    with pytest.raises(SandboxError, match="which bots may not see"):
        launched(mine, hall / "bob", secret=[hall / "bob"])


def test_a_program_that_it_does_not_see_is_told_with_the_fix(hall: Path) -> None:
    lost = Bot("x", f"python {hall}/bob/bot.py", dir="alice")
    with pytest.raises(StartError, match=r"/alice; if its files are elsewhere.*can't open file"):
        start(lost, launched(lost, hall))


def test_reference_bots_see_no_folder(hall: Path) -> None:
    greedy = Bot("x", "python -m bots.greedy")
    launch = launched(greedy, hall)
    words = (launch.sandboxes or {})["x"].words
    assert str(hall) not in [words[at + 1] for at, word in enumerate(words) if word == "--ro-bind"]
    start(greedy, launch).close()


def test_bots_of_different_authors_in_one_folder_are_named() -> None:
    def warning(*bots: Bot) -> str:
        return shared_folders(bots, Path("/cup"))

    a, b = Bot("a", "./a", author="A"), Bot("b", "./b", author="B")
    assert warning(a, b).startswith("a, b have the same folder and can read each other's files.")
    assert "x, y have" in warning(Bot("x", "./x"), Bot("y", "./y"))
    assert warning(a, Bot("a2", "./a2", author="A")) == ""
    assert warning(a, Bot("b", "./b", author="B", dir="b")) == ""
    greedy = Bot("g", "python -m bots.greedy")
    assert warning(a, Bot("url", url="http://127.0.0.1:9"), greedy) == ""


def test_descriptors_and_doors_are_closed_and_folders_are_small() -> None:
    """A descriptor is, for instance, a socket that the sandbox proxy is about to hand out."""
    assert printed(bot("copies")) == "copied 0\n"
    *doors, capabilities, _ = printed(bot("escapes")).split("\n")
    assert [door for door in doors if not door.endswith("closed")] == []
    assert (len(doors), int(capabilities.split()[1], 16)) == (14, 0)
    assert printed(bot("gorges")) == f"/tmp {HOME_MB}\n/dev/shm {SHARED_MEMORY_MB}\n"


@needs_sandbox
def test_its_processes_are_counted_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Linux does not limit the processes of root, so this takes another user."""
    for prefix in ("prefix", "base_prefix"):  # that of root, nobody else may read
        monkeypatch.setattr(sys, prefix, "/usr")
    user = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None
    if not os.path.exists("/usr/bin/python3"):
        pytest.skip("a Python that any user may start is needed")
    command = ("/usr/bin/python3", str(HOSTILE), "bombs")
    bombs = Bot("x", shlex.join(command))
    words = sandboxes([bombs], HOSTILE, Limits(processes=40), [])["x"].words + command
    done = subprocess.run(words, capture_output=True, text=True, check=False, user=user)
    assert 30 < int(done.stdout.split()[1]) < 40, done.stderr


def test_a_full_backlog_does_not_outlast_the_deadline() -> None:
    with running(bot("clogs")) as started:
        outcome = started.move(REQUEST, 0.3)
    assert isinstance(outcome, Failure)
    assert outcome.kind is FaultKind.TIMEOUT


def test_it_leaves_nothing_behind() -> None:
    """Its home is in memory; its processes end with their namespace, wherever they hide."""
    with running(bot("litters")) as started:
        assert started.output() == "/tmp\n"
    assert {"deep", "closed"}.isdisjoint(os.listdir("/tmp"))


def test_without_bubblewrap_a_cup_is_refused_or_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    cup = write(tmp_path, toys(3), deals=1, sandbox=None)
    words = ("run", cup, "--out", tmp_path / "run")
    done = stich(*words)
    assert (done.returncode, done.stdout) == (1, "")
    for fix in ("bwrap was not found (install the package bubblewrap)", "--no-sandbox"):
        assert fix in done.stderr
    monkeypatch.undo()
    done = stich(*words, "--no-sandbox")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Warning: the bots run as your own user and without a sandbox") == 1
    for again in (done, stich("standings", tmp_path / "run")):
        assert "The bots were started without a sandbox" in " ".join(again.stdout.split())


def test_only_an_authors_own_program_causes_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reference bots need no sandbox, and bots by URL have none."""
    monkeypatch.setenv("PATH", str(tmp_path))
    references = tuple(Bot(name, f"python -m bots.{name}") for name in ("random", "greedy"))
    assert must_sandbox(Cup("c", "doudizhu", 3, references)) is None
    for bots in (references, [Bot("x", url="http://127.0.0.1:9")]):
        assert prepare_launch(bots, Limits(), 1)[1] == ""
    launch, warning = prepare_launch([Bot("x", bot("toy-1"))], Limits(), 1)
    assert launch.sandboxes is None
    assert warning.startswith("Warning: the bots run as your own user and without a sandbox")
    assert warning.endswith("because bwrap was not found (install the package bubblewrap).")


def test_a_system_that_allows_no_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "bwrap"
    fake.touch(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    for error, fix in (
        ("No permissions to create new namespace", "allow unprivileged user namespaces"),
        ("Unknown option --disable-userns", "install bubblewrap 0.8 or newer"),
        ("prctl(PR_SET_SECCOMP) failed", "use a kernel that is built with CONFIG_SECCOMP_FILTER"),
    ):
        fake.write_text(f"#!/bin/sh\necho 'bwrap: {error}' >&2; exit 1\n")
        with pytest.raises(SandboxError, match=rf"^bwrap: {re.escape(error)} \({fix}\)$"):
            sandboxes([Bot("x", bot("toy-1"))], HOSTILE, Limits(), [])
    fake.write_text("")
    with pytest.raises(SandboxError, match="Exec format error"):
        sandboxes([Bot("x", bot("toy-1"))], HOSTILE, Limits(), [])


def test_a_sandbox_whose_network_cannot_be_entered_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This one names a process whose network is that of the machine, which none can enter anew."""
    fake = tmp_path / "bwrap"
    fake.touch(0o755)
    fake.write_text(
        '#!/bin/sh\n[ "$1" = --info-fd ] || exit 0\n'
        'echo "{\\"child-pid\\": $$}" >/proc/self/fd/$2\nexec sleep 1000\n'
    )
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    bots = [Bot("x", bot("toy-1"))]
    launch, _ = prepare_launch(bots, Limits(), 60_000, sandbox=True)
    with pytest.raises(StartError, match=r"sandbox's network cannot be entered \(.+\); install a"):
        start(bots[0], launch)


@needs_sandbox
def test_a_machine_without_a_filter_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    done = stich("run", write(tmp_path, toys(3), deals=1, sandbox=None), "--out", tmp_path / "run")
    assert done.returncode == 1
    assert "no filter of system calls for riscv64" in done.stderr
    assert "--no-sandbox" in done.stderr


def test_a_virtual_environment_in_its_folder_runs(tmp_path: Path) -> None:
    for option in ("--symlinks", "--copies"):
        folder = tmp_path / option
        make = [sys.executable, "-m", "venv", "--without-pip", option, folder / "venv"]
        subprocess.run(make, check=True)
        shutil.copytree(HOSTILE, folder / "hostile")
        with running("venv/bin/python hostile honest", folder):
            pass
