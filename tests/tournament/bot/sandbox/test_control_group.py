"""Control groups are prepared or left alone, in a folder that looks like version 2."""

import os
from pathlib import Path

import pytest

from tournament.bot.sandbox.control_group import delegate, shares_processor


class Fake:
    """A folder like /sys/fs/cgroup with a group that has only this process."""

    def __init__(self, folder: Path, controllers: str = "cpu io memory pids") -> None:
        self.root, self.own, self.here = folder / "cgroup", folder / "own", folder / "cgroup/a/b"
        self.here.mkdir(parents=True)
        self.own.write_text("1:cpu:/other\n0::/a/b\n")
        (self.here / "cgroup.controllers").write_text(controllers)
        (self.here / "cgroup.procs").write_text(f"{os.getpid()}\n")

    def delegate(self) -> str | None:
        return delegate(self.root, self.own)


def test_the_runner_moves_into_a_group_within_its_own(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    assert fake.delegate() == str(fake.here)
    assert (fake.here / "runner" / "cgroup.procs").read_text() == str(os.getpid())
    assert (fake.here / "runner" / "cpu.weight").read_text() == "1000"
    enabled = (fake.here / "cgroup.subtree_control").read_text().split()
    assert sorted(enabled) == ["+cpu", "+memory", "+pids"]
    fake.own.write_text("0::/a/b/runner\n")
    assert fake.delegate() == str(fake.here), "a second run in the same process"
    without_cpu = Fake(tmp_path / "other", "memory pids")
    assert without_cpu.delegate() == str(without_cpu.here)
    assert not (without_cpu.here / "runner" / "cpu.weight").exists()


@pytest.mark.parametrize("refuses", ["cgroup.subtree_control", "runner/cpu.weight"])
def test_a_second_run_trusts_no_group_that_failed_before(tmp_path: Path, refuses: str) -> None:
    fake = Fake(tmp_path)
    (fake.here / refuses).mkdir(parents=True)  # so that it cannot be written
    assert fake.delegate() is None
    fake.own.write_text("0::/a/b/runner\n")  # this write came before
    assert fake.delegate() is None
    (fake.here / refuses).rmdir()
    assert fake.delegate() == str(fake.here)
    assert (fake.here / refuses).read_text()


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("cgroup/a/b/cgroup.controllers", "cpu memory"),
        ("cgroup/a/b/cgroup.controllers", "cpu pids"),
        ("cgroup/a/b/cgroup.procs", f"1\n{os.getpid()}\n"),
        ("cgroup/a/b/runner", "a file, so that no group can be made"),
        ("own", "1:memory:/a/b\n"),
        ("own", "0::/elsewhere"),
    ],
    ids=["no pids", "no memory", "shared", "not delegated", "version 1", "unreadable"],
)
def test_a_group_that_does_not_fit_is_left_alone(tmp_path: Path, file: str, content: str) -> None:
    fake = Fake(tmp_path)
    (tmp_path / file).write_text(content)
    assert fake.delegate() is None
    assert not (fake.here / "runner").is_dir()


@pytest.mark.parametrize(
    ("enabled", "own", "weighted", "shares"),
    [
        ("1", "0::/a/b", "", True),
        ("1", "2:cpu,cpuacct:/\n0::/", "", True),
        ("0", "0::/a/b", "", False),
        ("1", "2:cpu,cpuacct:/docker\n0::/", "", False),
        ("1", "0::/a/b", "a", False),
        ("1", "0::/a/b", "a/b", False),
    ],
)
def test_linux_shares_the_processor_outside_groups_that_do(
    tmp_path: Path, enabled: str, own: str, weighted: str, shares: bool
) -> None:
    proc, root = tmp_path / "proc", tmp_path / "cgroup"
    for folder in (proc / "sys/kernel", proc / "self", root / "a/b"):
        folder.mkdir(parents=True)
    (proc / "sys/kernel/sched_autogroup_enabled").write_text(f"{enabled}\n")
    (proc / "self/cgroup").write_text(f"{own}\n")
    if weighted:
        (root / weighted / "cpu.weight").touch()
    assert shares_processor(None, root, proc) is shares
    (root / "cgroup.subtree_control").write_text("cpu memory")
    assert shares_processor(str(root), root, proc), "in control groups"
