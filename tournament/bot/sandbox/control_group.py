"""Control groups (version 2) for started bots, if the system has delegated a group to the run."""

import os
from pathlib import Path

from tournament.config.cup import Limits

ROOT = Path("/sys/fs/cgroup")
_NEEDED = {"memory", "pids"}
_RUNNER = "runner"  # the subgroup of this process, beside those of the bots
_RUNNER_WEIGHT = "1000"  # a bot has 100


def delegate(root: Path = ROOT, membership: Path = Path("/proc/self/cgroup")) -> str | None:
    """Prepare this process's control group to hold groups of bots. Return the group's folder.

    Move this process into a subgroup, unless an earlier call has done so. Return None if the system
    has no control groups of version 2, if the group cannot limit memory and processes or has other
    processes, or if a change fails. After a failed change, a later call tries again.
    """
    try:
        lines = membership.read_text().splitlines()
        path = next(line[3:] for line in lines if line.startswith("0::"))
        here = root / path.lstrip("/")
        if here.name == _RUNNER:  # an earlier call has moved this process, but may have failed then
            here = here.parent
        elif (here / "cgroup.procs").read_text().split() != [str(os.getpid())]:
            return None
        available = set((here / "cgroup.controllers").read_text().split())
        if not available >= _NEEDED:
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
    """Return whether each sandboxed bot gets one share of the processor for all its processes.

    Linux can do so by sharing the processor among the control groups in `group`, the folder from
    `delegate`, or among sessions ("autogroups"). Each sandboxed bot has its own group or session.
    Return False if the settings of the system cannot be read.
    """
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
            if not names and any((up / "cpu.weight").exists() for up in (here, *here.parents)):
                return False
        return True
    except OSError:
        return False


def group_files(limits: Limits) -> dict[str, str]:
    """Return the contents of the files of a bot's control group, by file name. The limits apply to
    all of the bot's processes together, and memory includes files in memory."""
    return {
        "pids.max": str(limits.processes),
        "memory.max": str(limits.memory_mb << 20),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
    }
