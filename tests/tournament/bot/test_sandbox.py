"""The sandbox: what a bot in it sees, and what it cannot do."""

import os
import pwd
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.tournament import hostile
from tests.tournament.cups import HOSTILE, bot, needs_sandbox
from tournament.bot.environment import environment
from tournament.bot.launch import prepare_launch
from tournament.bot.player import Choice, Failure
from tournament.bot.process import BotProcess
from tournament.bot.sandbox.bubblewrap import HOME_MB, SHARED_MEMORY_MB, SandboxError, sandboxes
from tournament.bot.sandbox.visible import Command, covers
from tournament.bot.started_bot import StartedBot, start
from tournament.config import Bot, Limits
from tournament.records import FaultKind
from tournament.store.signing import make_key

REQUEST = b'{"turn": 1, "match": "m", "moves": ["pass"], "view": {"hand": []}}'


@contextmanager
def running(
    command: str, *others: Bot, sandbox: bool = True, secret: tuple[Path, ...] = ()
) -> Iterator[StartedBot]:
    bots = [Bot("x", command), *others]
    launch, _ = prepare_launch(bots, Limits(), 60_000, sandbox=sandbox, secret=secret)
    started = start(bots[0], launch)
    try:
        yield started
    finally:
        started.close()


def tried(
    how: str, *words: str, sandbox: bool = True, dir: str | None = None, folder: Path | None = None
) -> str:
    """What a misbehaving program prints that is started as a bot, in a sandbox unless told
    otherwise."""
    command = bot(how, *words)
    trying = Bot("x", command, dir=dir)
    launch, _ = prepare_launch([trying], Limits(), 60_000, sandbox=sandbox, folder=folder)
    process = BotProcess(trying, environment(shlex.split(command), 1), launch)
    try:
        while process.status() is None:
            os.sched_yield()
        return process.output()
    finally:
        process.close()


@pytest.mark.parametrize(
    "inside", [pytest.param(True, marks=needs_sandbox), False], ids=["sandbox", "no sandbox"]
)
def test_a_sandbox_shows_nothing_of_the_outside(tmp_path: Path, inside: bool) -> None:
    """What a spying bot finds, in a sandbox and without one."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.sqlite").touch()
    (tmp_path / "a" / "older").mkdir(parents=True)
    (tmp_path / "a" / "older" / "run.sqlite").write_text("OLD SEED")
    (tmp_path / "a" / "other.toml").write_text('seed = "NEXT SEED"\n[[bots]]\n')
    (tmp_path / "a" / "notes.toml").write_text("NOTES")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("COMMITTED SEED")
    cup = tmp_path / "cup.toml"
    cup.write_text('seed = "test"')
    secret = (cup, tmp_path / "run")
    with hostile.running(hostile.first) as url:
        command = bot("spies", str(cup), url)
        with running(command, sandbox=inside, secret=secret) as started:
            assert isinstance(started.move(REQUEST, 60), Choice)
            output = started.output()
    Path(hostile.__file__).with_name("scribble").unlink(missing_ok=True)
    assert ("no outside" in output) is inside
    assert ('seed = "test"' in output) is not inside
    assert ("run.sqlite" in output) is not inside
    assert ("OLD SEED" in output) is not inside
    assert ("NEXT SEED" in output) is not inside
    assert ("COMMITTED SEED" in output) is not inside
    assert "NOTES" in output
    assert output.count("cannot write") >= (2 if inside else 0)
    assert "PYTEST" not in output


@pytest.mark.parametrize(
    "inside", [pytest.param(True, marks=needs_sandbox), False], ids=["sandbox", "no sandbox"]
)
@pytest.mark.parametrize("named", [False, True], ids=["below its folder", "named by its command"])
def test_the_signing_key_is_covered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: bool, named: bool
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    make_key()
    words = ["state/stich/signing-key"] if named else []
    output = tried("seeks", *words, sandbox=inside, dir=".", folder=tmp_path)
    assert ("found" in output) is not inside, output


def test_a_bot_sees_its_own_folder_and_no_other(tmp_path: Path) -> None:
    for name in ("alice", "bob"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.py").touch()
    for alice, bob in (
        (Bot("alice", "python alice/bot.py"), Bot("bob", "python bob/bot.py")),
        (Bot("alice", "npm start", dir="alice"), Bot("bob", "npm start", dir="bob")),
    ):
        hers, his = (Command.of(one, tmp_path) for one in (alice, bob))
        assert hers.own == {tmp_path / "alice"}
        assert tmp_path / "alice" in hers.visible
        assert not any(place.is_relative_to(tmp_path / "bob") for place in hers.visible)
        assert covers(hers, [hers, his], []) == (set(), set())


def test_a_bot_in_the_folder_of_all_does_not_see_theirs(
    tmp_path: Path,
) -> None:
    """One starts in the folder of the cup, one is a file beside it, one has a folder in it."""
    (tmp_path / "bob").mkdir()
    for name in ("alice.py", "carol.py", "bob/bot.py"):
        (tmp_path / name).touch()
    alice, bob, carol, dora, everything = bots = [
        Command.of(one, tmp_path)
        for one in (
            Bot("alice", "python -m alice"),
            Bot("bob", "node bob/bot.py"),
            Bot("carol", "sh -c 'exec python3 carol.py'", author="C"),
            Bot("dora", "node carol.py alice.py", author="C"),
            Bot("everything", "npm start"),
        )
    ]
    assert alice.own == everything.own == {tmp_path}
    assert covers(alice, bots[:3], []) == ({tmp_path / "bob"}, {tmp_path / "carol.py"})
    assert covers(bob, bots, []) == (set(), set())
    assert covers(carol, [carol, dora], []) == (set(), set()), "one author's bots share files"


def test_the_home_and_the_folder_of_temporary_files_are_no_bots_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    script = tmp_path / "bot.py"
    script.touch()
    assert Command(("python", "bot.py"), tmp_path).own == {script}
    program = tmp_path / ".local" / "bin" / "mybot"
    program.parent.mkdir(parents=True)
    program.touch(0o755)
    seen = Command((str(program),), tmp_path).visible
    assert program.parent in seen
    assert tmp_path / ".local" not in seen


def test_reference_bots_see_this_python_and_the_packages_of_bots_only(tmp_path: Path) -> None:
    greedy = Command(("python", "-m", "bots.greedy"), tmp_path)
    root = Path(__file__).parents[3]
    assert {root / "bots", root / "games", Path(sys.prefix)} <= greedy.visible
    assert root not in greedy.visible
    assert greedy.own == set()


def test_a_bot_of_a_user_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError

    script = tmp_path / "bot.py"
    script.touch()
    monkeypatch.setattr(Path, "home", no_home)
    command = Command((sys.executable, "bot.py"), tmp_path)
    assert command.own == {tmp_path}
    assert tmp_path in command.visible


def test_the_folder_of_all_runs_is_covered_unless_a_bot_lives_there(
    tmp_path: Path,
) -> None:
    run, mine = tmp_path / "runs" / "spring", tmp_path / "runs" / "mine"
    for folder in (run, mine):
        folder.mkdir(parents=True)
        (folder / "run.sqlite").touch()
    (mine / "bot.py").touch()
    (tmp_path / "bot.py").touch()
    folders, files = covers(Command(("python", "bot.py"), tmp_path), [], [run])
    assert (folders, files) == ({tmp_path / "runs"}, set())
    both = Command(("python", "bot.py", "runs/mine/bot.py"), tmp_path)
    assert covers(both, [], [run]) == ({run}, {mine / "run.sqlite"})


@needs_sandbox
def test_no_descriptor_of_another_process_can_be_copied() -> None:
    """Such as a socket that the sandbox proxy is about to hand out."""
    assert tried("copies") == "copied 0\n"


@needs_sandbox
def test_the_doors_to_the_kernel_are_closed() -> None:
    *doors, capabilities, _ = tried("escapes").split("\n")
    assert [door for door in doors if not door.endswith("closed")] == []
    assert len(doors) == 12
    assert int(capabilities.split()[1], 16) == 0


@needs_sandbox
def test_the_folders_that_it_may_write_to_have_sizes() -> None:
    assert tried("gorges") == f"/tmp {HOME_MB}\n/dev/shm {SHARED_MEMORY_MB}\n"


@needs_sandbox
def test_its_processes_are_counted_for_itself() -> None:
    """Linux does not limit the processes of root, so this takes another user."""
    user = pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None
    python = "/usr/bin/python3"
    if not os.path.exists(python):
        pytest.skip("a Python that any user may start is needed")
    command = shlex.join([str(python), str(HOSTILE), "bombs"])
    words = sandboxes([Bot("x", command)], Path("/"), Limits(processes=40), [])["x"]
    done = subprocess.run(
        [*words, *command.split()], capture_output=True, text=True, check=False, user=user
    )
    assert 30 < int(done.stdout.split()[1]) < 40


@needs_sandbox
def test_a_full_backlog_does_not_outlast_the_deadline() -> None:
    with running(bot("clogs")) as started:
        assert isinstance(started.move(REQUEST, 60), Choice)
        outcome = started.move(REQUEST, 0.3)
        assert isinstance(outcome, Failure)
        assert outcome.kind is FaultKind.TIMEOUT


@needs_sandbox
def test_it_leaves_nothing_behind() -> None:
    """Its home is in memory; its processes end with their namespace, wherever they hide."""
    with running(bot("litters")) as started:
        assert isinstance(started.move(REQUEST, 60), Choice)
        assert started.output() == "/tmp\n"
    assert not Path("/tmp/deep").exists()
    assert not Path("/tmp/closed").exists()


def test_without_bubblewrap_it_is_said_and_goes_on_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bots = [Bot("x", bot("toy-1"))]
    monkeypatch.setenv("PATH", str(tmp_path))
    launch, notice = prepare_launch(bots, Limits(), 1)
    assert launch.sandboxes is None
    assert notice.startswith("Warning: the bots run as your own user and without a sandbox")
    assert notice.endswith("because bwrap was not found (install the package bubblewrap).")
    with pytest.raises(SandboxError, match="install the package bubblewrap"):
        prepare_launch(bots, Limits(), 1, sandbox=True)
    assert prepare_launch([Bot("x", url="http://127.0.0.1:9")], Limits(), 1)[1] == ""


@pytest.mark.parametrize(
    ("error", "fix"),
    [
        ("No permissions to create new namespace", "allow unprivileged user namespaces"),
        ("Unknown option --disable-userns", "install bubblewrap 0.8 or newer"),
    ],
)
def test_a_system_that_allows_no_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: str, fix: str
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text(f"#!/bin/sh\necho 'bwrap: {error}' >&2; exit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(SandboxError) as refused:
        sandboxes([Bot("x", bot("toy-1"))], Path("/"), Limits(), [])
    assert str(refused.value) == f"bwrap: {error} ({fix})"


@needs_sandbox
def test_programs_outside_of_the_systems_folders_run(tmp_path: Path) -> None:
    """A virtual environment made of links, and one made of copies."""
    for option in ("--symlinks", "--copies"):
        folder = tmp_path / option
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", option, folder], check=True)
        shutil.copytree(HOSTILE, folder / "hostile")
        with running(f"{folder}/bin/python {folder}/hostile honest") as started:
            assert isinstance(started.move(REQUEST, 60), Choice)
