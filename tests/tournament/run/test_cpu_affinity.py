"""Tables that are played at the same time have separate cores."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.cups import events, started, toys, write
from tournament.run.machine import Cores, shares

CORES = len(os.sched_getaffinity(0))


def sets(*cores: set[int]) -> tuple[Cores | None, ...]:
    return tuple(map(frozenset, cores))


@pytest.mark.parametrize(
    ("tables", "cores", "expected"),
    [
        (2, {0, 1}, sets({0}, {1})),
        (2, {7, 1, 4, 2, 9}, sets({1, 2}, {4, 7})),
        (3, range(8), sets({0, 1}, {2, 3}, {4, 5})),
        (1, range(8), (None,)),
        (3, range(2), (None, None, None)),
    ],
)
def test_tables_have_equal_shares_of_the_cores(
    tables: int, cores: Iterable[int], expected: tuple[Cores | None, ...]
) -> None:
    assert shares(tables, cores) == expected


@pytest.mark.serial
@pytest.mark.skipif(CORES < 2, reason="there is one core only")
def test_the_bots_of_a_table_run_on_its_cores(tmp_path: Path) -> None:
    notes = tmp_path / "pids"
    notes.mkdir()
    bots = toys(3, str(notes))
    cup = write(tmp_path, bots, concurrency=2, deals=6, sandbox=False)
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
