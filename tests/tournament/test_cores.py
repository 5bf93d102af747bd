"""Tables side by side have cores of their own."""

import os
import shlex
from pathlib import Path

import pytest

from tests.tournament.cups import stich, toys, write
from tournament.cores import Cores, shares

CORES = len(os.sched_getaffinity(0))


def sets(*cores: set[int]) -> tuple[Cores | None, ...]:
    return tuple(map(frozenset, cores))


def test_every_table_has_as_many_cores_and_to_itself() -> None:
    assert shares(2, {0, 1}) == sets({0}, {1})
    assert shares(2, {7, 1, 4, 2, 9}) == sets({1, 2}, {4, 7})
    assert shares(3, range(8)) == sets({0, 1}, {2, 3}, {4, 5})


def test_where_sharing_out_makes_no_sense_the_system_decides() -> None:
    assert shares(1, range(8)) == (None,)
    assert shares(3, range(2)) == (None, None, None)


@pytest.mark.skipif(CORES < 2, reason="there is one core only")
@pytest.mark.parametrize(("tables", "each"), [(1, CORES), (2, CORES // 2)])
def test_the_bots_of_a_table_run_on_its_cores(tmp_path: Path, tables: int, each: int) -> None:
    seen = tmp_path / "seen"
    bots = {
        name: "sh -c " + shlex.quote(f"nproc >> {shlex.quote(str(seen))}; exec {command}")
        for name, command in toys(3).items()
    }
    done = stich("run", write(tmp_path, bots, concurrency=tables), "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    counted = seen.read_text().split()
    assert len(counted) >= 3 * tables
    assert set(counted) == {str(each)}
