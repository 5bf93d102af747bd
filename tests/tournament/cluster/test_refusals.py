"""A cluster that cannot play is refused before the cup, by a sentence that names the cause."""

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.tournament.cups import ROOT, stich, succeed, toys, write
from tests.support.tournament.dask import Cluster, cluster
from tournament.cluster import executor
from tournament.store.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.serial]


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("dask")) as running:
        yield running


def refused(cup: Path, address: str) -> str:
    """The reason why a cup does not begin."""
    done = stich("run", cup, "--out", cup.parent / "run", "--cluster", address)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("tcp://127.0.0.1:9", "No scheduler answers at {}; start one (dask scheduler), or fix"),
        ("tls://127.0.0.1:9", "{} needs certificates; name them in Dask's distributed.comm.tls."),
    ],
)
def test_a_scheduler_that_cannot_be_reached_is_named(
    tmp_path: Path, address: str, why: str
) -> None:
    assert refused(write(tmp_path, toys(3)), address).startswith(why.format(address))


def test_a_run_needs_workers_with_tables(
    dask: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor, "WAIT_S", 0.0)
    cup = write(tmp_path, toys(3))
    nobody = (
        f"No worker with tables has joined the scheduler at {dask.address}; start one: dask worker"
        f' {dask.address} --resources "tables=1" --nthreads 1.'
    )
    assert refused(cup, dask.address) == nobody
    worker = dask.start_worker("idle", None)
    assert refused(cup, dask.address) == nobody
    worker.kill()


def test_a_worker_without_stich_is_named(dask: Cluster, tmp_path: Path) -> None:
    """The worker has all installed packages except stich."""
    packages = tmp_path / "packages"
    packages.mkdir()
    site = Path(next(path for path in sys.path if path.endswith("site-packages")))
    for entry in site.iterdir():
        if not entry.name.startswith(("stich", "__editable__")) and entry.suffix != ".pth":
            (packages / entry.name).symlink_to(entry)
    worker = dask.start_worker("bare", PYTHONPATH=str(packages), python=["-S"])
    said = refused(write(tmp_path, toys(3)), dask.address)
    assert said.startswith("Worker bare: It cannot play (ModuleNotFoundError")
    assert re.search(r"install stich \S+ \(sources \w{8}\) into the environment", said)
    worker.kill()


def test_a_worker_with_other_sources_is_named(dask: Cluster, tmp_path: Path) -> None:
    """Both checkouts have the same version."""
    for package in ("games", "tournament", "bots"):
        shutil.copytree(ROOT / package, tmp_path / "other" / package)
    with (tmp_path / "other" / "games" / "__init__.py").open("a") as file:
        file.write("# changed")
    worker = dask.start_worker("old", PYTHONPATH=str(tmp_path / "other"))
    said = refused(write(tmp_path, toys(3)), dask.address)
    ours = r"stich \S+ \(sources \w{8}\)"
    versions = re.fullmatch(f"Worker old: It has ({ours}), and this is ({ours}); install .*", said)
    assert versions is not None
    assert versions[1] != versions[2]
    worker.kill()


def test_a_bot_that_fails_to_start_on_one_worker_is_named(dask: Cluster, tmp_path: Path) -> None:
    """Only one of two workers has the bot's program in its PATH."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "toolchain").symlink_to(sys.executable)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    workers = [dask.start_worker("has", PATH=path), dask.start_worker("lacks")]
    bots = toys(3)
    bots["toy2"] = bots["toy2"].replace(sys.executable, "toolchain")
    said = refused(write(tmp_path, bots, sandbox=False), dask.address)
    assert said.startswith('Worker lacks: toy2: "toolchain ')
    assert ' cannot be started: there is no program "toolchain"; install it' in said
    for worker in workers:
        worker.kill()


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
    worker = dask.start_worker("one")
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
    said = refused(cup, dask.address)
    assert said.startswith('Worker one: mine: "python bot.py" ended with code 1 before it answered')
    assert said.endswith("No such file or directory: 'model.txt'")
    worker.kill()
