"""A cluster that cannot play is refused before the cup, by a sentence that names the cause."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.support.tournament.cups import ROOT, stich, succeed, toys, write
from tests.support.tournament.dask import Cluster
from tournament.cluster import executor
from tournament.store.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.serial]


def refused(cup: Path, address: str) -> list[str]:
    done = stich("run", cup, "--out", cup.parent / "run", "--cluster", address)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    return [line for line in done.stderr.splitlines() if not line.startswith("Starting ")]


def test_a_scheduler_that_cannot_be_reached_is_named(tmp_path: Path) -> None:
    for address, why in (
        ("tcp://127.0.0.1:9", "No scheduler answers at {}; start one (dask scheduler), or fix"),
        ("tcp://a..b:1", "{} is no scheduler's address; write one like tcp://127.0.0.1:8786."),
        ("tls://127.0.0.1:9", "{} needs certificates; name them in Dask's distributed.comm.tls."),
    ):
        (problem,) = refused(write(tmp_path, toys(3)), address)
        assert problem.startswith(why.format(address))


def test_a_run_needs_workers_with_tables(
    dask: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor, "WAIT_S", 0.0)
    cup = write(tmp_path, toys(3))
    fix = f'start one: dask worker {dask.address} --resources "tables=1" --nthreads 1.'
    problem = f"No worker with tables has joined the scheduler at {dask.address}; {fix}"
    assert refused(cup, dask.address) == [problem]
    dask.start_worker("idle", None)
    assert refused(cup, dask.address) == [problem]


def test_workers_that_cannot_play_are_named(dask: Cluster, tmp_path: Path) -> None:
    """One worker has no stich, one has other sources of the same version, and one lacks the program
    of a bot."""
    bare = tmp_path / "packages"
    bare.mkdir()
    site = Path(next(path for path in sys.path if path.endswith("site-packages")))
    for entry in site.iterdir():
        if not entry.name.startswith(("stich", "__editable__")) and entry.suffix != ".pth":
            (bare / entry.name).symlink_to(entry)
    for package in ("games", "tournament", "bots"):
        shutil.copytree(ROOT / package, tmp_path / "other" / package)
    with (tmp_path / "other" / "games" / "__init__.py").open("a") as file:
        file.write("# changed")
    (tmp_path / "toolchain").symlink_to(sys.executable)
    dask.start_worker("has", PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    dask.start_worker("lacks")
    dask.start_worker("bare", PYTHONPATH=str(bare), python=["-S"])
    dask.start_worker("old", PYTHONPATH=str(tmp_path / "other"))
    bots = toys(3)
    bots["toy2"] = bots["toy2"].replace(sys.executable, "toolchain")
    problems = sorted(refused(write(tmp_path, bots, sandbox=False), dask.address))
    ours = r"stich \S+ \(sources \w{8}\)"
    fixes = (
        rf"Worker bare: It cannot play \(ModuleNotFoundError.* install {ours} into the .*",
        'Worker lacks: toy2: "toolchain .*" cannot be started: there is no program "toolchain"; .*',
        f"Worker old: It has ({ours}), and this is ({ours}); install .*",
    )
    for problem, fix in zip(problems, fixes, strict=True):
        assert re.fullmatch(fix, problem)
    assert len(set(re.findall(ours, problems[-1]))) == 2


BOT = """
import os, runpy
assert open("model.txt").read() == os.environ["MODEL"]
assert os.environ["MY_KEY"]
runpy.run_module("bots.greedy", run_name="__main__")
"""


def test_a_bot_travels_with_its_folder_and_variables(
    dask: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a file in the folder, the cup is refused. No value of the runner's is kept."""
    monkeypatch.setenv("MY_KEY", "S3cret")
    dask.start_worker("one")
    folder = tmp_path / "bots" / "mine"
    folder.mkdir(parents=True)
    (folder / "model.txt").write_text("weights")
    (folder / "bot.py").write_text(BOT)
    mine = {"command": "python bot.py", "dir": "bots/mine", "env.MODEL": "weights"}
    cup = write(tmp_path, {**toys(2), "mine": {**mine, "env_from": ["MY_KEY"]}}, deals=1)
    run = tmp_path / "run"
    succeed("run", cup, "--out", run, "--cluster", dask.address)
    with Store.open(run) as store:
        assert [match.faults for match in store.matches()] == [()] * 3
    assert not any(b"S3cret" in file.read_bytes() for file in run.rglob("*") if file.is_file())
    (folder / "model.txt").rename(folder / "weights.txt")
    shutil.rmtree(run)
    (said,) = refused(cup, dask.address)
    assert said.startswith('Worker one: mine: "python bot.py" ended with code 1 before it answered')
    assert said.endswith("No such file or directory: 'model.txt'\".")
