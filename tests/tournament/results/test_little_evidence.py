"""Tables of runs that tell little: the standings say what can be said, and no more."""

import io
from collections.abc import Sequence

from rich.console import Console

from stich.console.result_tables import print_table
from tests.support.memory_run import MemoryRun, run_of
from tests.support.standings import BOTS, match, row
from tournament.records import MatchSummary
from tournament.results.standings import Standings, standings


def printed(run: MemoryRun, table: Standings) -> str:
    page = io.StringIO()
    print_table(Console(width=200, file=page), table, run.run())
    return " ".join(page.getvalue().split())


def blocks(count: int, points: Sequence[int], bots: Sequence[str] = BOTS) -> list[MatchSummary]:
    """So many blocks of three rotations in which every bot always has the same points."""
    return [
        match(block, turn, [*bots[turn:], *bots[:turn]], [*points[turn:], *points[:turn]])
        for block in range(count)
        for turn in range(3)
    ]


def test_groups_that_never_met_are_said_and_not_ranked() -> None:
    others = [
        match(one.block + 50, one.number, one.seating, one.scores)
        for one in blocks(20, (9, 0, -9), ("dan", "eve", "fay"))
    ]
    run = run_of([*blocks(20, (3, 0, -3)), *others])
    table = standings(run)
    assert table.groups == 2
    assert {line.group for line in table.standings} == {1, 2}
    assert {line.place for line in table.standings} == {None}
    # Within a group the order is settled; of the other group nothing is known.
    assert row(table, "ann").rank == (1, 4)
    assert row(table, "fay").rank == (3, 6)
    shown = printed(run, table)
    assert "2 groups that never met" in shown
    assert "so there are no places" in shown


def test_one_block_has_places_and_no_intervals() -> None:
    run = run_of(blocks(1, (4, 0, -4)))
    table = standings(run)
    places = {line.bot: line.place for line in table.standings}
    assert places == {"ann": 1, "bob": 2, "cat": 3}
    for line in table.standings:
        assert line.rank == (1, 3)
        assert (line.low, line.high) == (None, None)
    assert "+4.00" in printed(run, table)


def test_blocks_that_are_all_equal_share_the_first_place() -> None:
    table = standings(run_of(blocks(30, (0, 0, 0))))
    assert {line.place for line in table.standings} == {1}
    assert {line.rank for line in table.standings} == {(1, 3)}
    assert {line.score for line in table.standings} == {0.0}
    # Nothing shows by how much a block may differ.
    assert {(line.low, line.high) for line in table.standings} == {(None, None)}


def test_a_bot_that_never_played_is_listed_without_a_place() -> None:
    run = run_of(blocks(20, (3, 0, -3)), bots=[*BOTS, "zoe"])
    table = standings(run)
    zoe = row(table, "zoe")
    assert (zoe.place, zoe.score, zoe.won, zoe.rank) == (None, None, None, (1, 4))
    assert table.groups == 1
    assert row(table, "ann").place == 1
    assert "– zoe –" in printed(run, table)
