"""Control groups (version 2): one for each started bot, where the system has delegated some.

A run whose group is its own, as `systemd-run --user --scope -p Delegate=yes` starts it, moves its
processes into the group `runner` within, and each bot gets a group beside it.
"""

import os
from pathlib import Path

from tournament.config.cup import Limits

ROOT = Path("/sys/fs/cgroup")
_NEEDED = {"memory", "pids"}
_RUNNER = "runner"
_RUNNER_WEIGHT = "1000"  # a bot has 100


def delegate(root: Path = ROOT, own: Path = Path("/proc/self/cgroup")) -> str | None:
    """Prepare the group of this process for the groups of bots; its folder. None if this system has
    no such groups, or this process shares its group with others."""
    try:
        lines = own.read_text().splitlines()
        path = next(line[3:] for line in lines if line.startswith("0::"))
        here = root / path.lstrip("/")
        if here.name == _RUNNER:  # of a run before, in the same process
            return str(here.parent)
        available = set((here / "cgroup.controllers").read_text().split())
        alone = (here / "cgroup.procs").read_text().split() == [str(os.getpid())]
        if not alone or not available >= _NEEDED:
            return None
        runner = here / _RUNNER
        runner.mkdir(exist_ok=True)
        (runner / "cgroup.procs").write_text(str(os.getpid()))
        wanted = available & (_NEEDED | {"cpu"})
        (here / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in wanted))
        if "cpu" in wanted:
            (runner / "cpu.weight").write_text(_RUNNER_WEIGHT)
        return str(here)
    except (OSError, StopIteration):
        return None


def shares_processor(group: str | None, root: Path = ROOT, proc: Path = Path("/proc")) -> bool:
    """Whether the processes of a bot in a sandbox get the share of one, however many they are: by
    its group, if `group` is the folder of `delegate`; or because Linux shares the processor among
    sessions, of which such a bot has one. It does so only outside of groups that share it."""
    try:
        if group is not None and "cpu" in Path(group, "cgroup.subtree_control").read_text().split():
            return True
        if (proc / "sys/kernel/sched_autogroup_enabled").read_text().strip() != "1":
            return False
        for line in (proc / "self/cgroup").read_text().splitlines():
            _, names, path = line.split(":", 2)
            here = root / path.lstrip("/")
            if "cpu" in names.split(",") and path != "/":
                return False
            if not names and any((one / "cpu.weight").exists() for one in (here, *here.parents)):
                return False
        return True
    except OSError:
        return False


def group_files(limits: Limits) -> dict[str, str]:
    """What the files of a bot's group must say. All processes of the bot count together, with the
    files that they keep in memory."""
    return {
        "pids.max": str(limits.processes),
        "memory.max": str(limits.memory_mb << 20),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
    }
