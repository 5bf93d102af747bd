"""Finds and ends a process's descendants, and makes and removes a bot's control group."""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Mapping, Sequence

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def prctl(option: int, value: int) -> None:
    """Set this process's attribute `option`, a PR_SET constant of prctl(2). Errors are ignored."""
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def end_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent (a pid), or the thread that started this
    process, ends. If the parent has ended already, exit now with 1, without clean-up."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def children(pid: int) -> list[int]:
    """Return the pids of a process's children, or [] if the process is gone."""
    pids: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                pids += map(int, file.read().split())
    return pids


def descendants(pid: int) -> list[int]:
    """Return the pids of a process's children, of the children's children and so on."""
    pids = children(pid)
    for child in pids:  # which grows during the loop
        pids += children(child)
    return pids


def memory_mb(pid: int) -> float:
    """Return the unshared memory of a process and its descendants in MiB, or 0 if they are gone."""
    pages = 0
    for process in (pid, *descendants(pid)):
        try:
            with open(f"/proc/{process}/statm") as file:
                _, resident, shared, *_ = file.read().split()
        except OSError:
            continue
        pages += int(resident) - int(shared)
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def end_children(extra: Sequence[int] = ()) -> None:
    """Kill this process's descendants, the processes in `extra` (pids), and their process groups.
    Wait up to about a second for all children to end. This process must be a subreaper."""
    for _ in range(1000):
        for pid in {*extra, *children(os.getpid())}:
            for kill in (os.killpg, os.kill):
                with contextlib.suppress(OSError):
                    kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)


def create_group(folder: str, files: Mapping[str, str]) -> None:
    """Create a control group, and write `files`, the contents of its files by name.
    `memory.swap.max`, the limit on swap, is left out if the system does not offer it.

    Raises:
        OSError: if the group cannot be created or written.
    """
    os.mkdir(folder)
    for name, value in files.items():
        path = os.path.join(folder, name)
        if name != "memory.swap.max" or os.path.exists(path):
            with open(path, "w") as file:
                file.write(value)


def kill_group(folder: str) -> None:
    """Kill every process in a control group and its subgroups. Errors are ignored."""
    with contextlib.suppress(OSError), open(f"{folder}/cgroup.kill", "w") as file:
        file.write("1")


def remove_group(folder: str) -> None:
    """Remove a control group and its subgroups. Wait up to about a second for killed processes in
    them to end. Errors are ignored."""
    for _ in range(1000):
        for path, _, _ in os.walk(folder, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(path)
        if not os.path.exists(folder):
            return
        time.sleep(0.001)  # the last processes are still ending
