"""The memory and the cores of the machine, as the tables of a cup share them."""

import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.tournament.cups import events, started, toys, write
from tournament.bot.supervisor.process_tree import memory_mb
from tournament.run.workers.machine import available_mb, shares

CORES = len(os.sched_getaffinity(0))


def limit(folder: Path, limit_mb: int | None, used_mb: int = 0, cached_mb: int = 0) -> None:
    (folder / "memory.max").write_text("max" if limit_mb is None else str(limit_mb << 20))
    (folder / "memory.current").write_text(str(used_mb << 20))
    (folder / "memory.stat").write_text(f"anon 1\nactive_file {cached_mb << 20}\nfile 2\n")


def test_the_narrowest_control_group_counts(tmp_path: Path) -> None:
    proc, root = tmp_path / "proc", tmp_path / "groups"
    (proc / "self").mkdir(parents=True)
    (proc / "meminfo").write_text("MemTotal: 16384000 kB\nMemAvailable: 8192000 kB\n")
    (proc / "self/cgroup").write_text("1:name=systemd:/x\n0::/a/b\n")
    (root / "a/b").mkdir(parents=True)
    assert available_mb(proc, root) == 8000
    limit(root / "a/b", None)
    assert available_mb(proc, root) == 8000
    limit(root / "a", 4000, used_mb=1500, cached_mb=500)
    assert available_mb(proc, root) == 3000
    limit(root / "a/b", 1000, used_mb=1500)
    assert available_mb(proc, root) == 0


def test_the_memory_of_descendants_counts() -> None:
    """A parent with 20 MB and a child with 40 MB."""
    child = "memory = bytearray(40 << 20); print(flush=True); input()"
    spawn = f"subprocess.run([sys.executable, '-c', {child!r}])"
    parent = f"import subprocess, sys; memory = bytearray(20 << 20); {spawn}"
    words = [sys.executable, "-c", parent]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert 60 <= memory_mb(process.pid) < 120
        process.communicate(b"\n")


@pytest.mark.parametrize(
    ("tables", "cores", "expected"),
    [
        (2, {0, 1}, [{0}, {1}]),
        (2, {7, 1, 4, 2, 9}, [{1, 2}, {4, 7}]),
        (3, range(8), [{0, 1}, {2, 3}, {4, 5}]),
        (1, range(8), [None]),
        (3, range(2), [None] * 3),
    ],
)
def test_tables_have_equal_shares_of_the_cores(
    tables: int, cores: Iterable[int], expected: list[set[int] | None]
) -> None:
    assert list(shares(tables, cores)) == expected


@pytest.mark.serial
@pytest.mark.skipif(CORES < 2, reason="there is one core only")
def test_the_bots_of_a_table_run_on_its_cores(tmp_path: Path) -> None:
    notes = tmp_path / "pids"
    notes.mkdir()
    cup = write(tmp_path, toys(3, str(notes)), concurrency=2, deals=6, sandbox=False)
    seen = set()
    with started("run", cup, "--out", tmp_path / "run", "--json") as process:
        for event in events(process):
            if event["event"] == "match":
                for note in notes.iterdir():
                    with suppress(ProcessLookupError):
                        seen.add(len(os.sched_getaffinity(int(note.name))))
    assert process.returncode == 0
    # All bots start with all cores, and get those of their table before its first match.
    assert seen <= {CORES, CORES // 2}
    assert CORES // 2 in seen
