"""Tables of runs with little evidence: the standings claim no more than the matches show."""

import io
from collections.abc import Sequence

from rich.console import Console

from stich.console.result_tables import print_table
from tests.support.memory_run import MemoryRun, run_of
from tests.support.standings import BOTS, match, row
from tournament.records import MatchSummary
from tournament.results.standings import standings


def printed(run: MemoryRun) -> str:
    page = io.StringIO()
    print_table(Console(width=200, file=page), standings(run), run.run())
    return " ".join(page.getvalue().split())


def blocks(
    count: int, points: Sequence[int], bots: Sequence[str] = BOTS, first: int = 0
) -> list[MatchSummary]:
    """This many blocks of three rotations in which each bot always has the same points."""
    return [
        match(block, turn, [*bots[turn:], *bots[:turn]], [*points[turn:], *points[:turn]])
        for block in range(first, first + count)
        for turn in range(3)
    ]


def test_groups_of_bots_that_never_met_are_not_ranked() -> None:
    others = blocks(20, (9, 0, -9), ("dan", "eve", "fay"), first=50)
    run = run_of([*blocks(20, (3, 0, -3)), *others])
    table = standings(run)
    assert table.groups == 2
    assert {line.group for line in table.standings} == {1, 2}
    assert {line.place for line in table.standings} == {None}
    # Within a group the order is settled; of the other group nothing is known.
    assert (row(table, "ann").rank, row(table, "fay").rank) == ((1, 4), (3, 6))
    assert "2 groups that never met" in printed(run)
    assert "so there are no places" in printed(run)


def test_one_block_has_places_and_no_intervals() -> None:
    run = run_of(blocks(1, (4, 0, -4)))
    lines = [
        (line.bot, line.place, line.rank, line.low, line.high) for line in standings(run).standings
    ]
    assert lines == [(bot, place, (1, 3), None, None) for place, bot in enumerate(BOTS, 1)]
    assert "+4.00" in printed(run)


def test_bots_that_are_equal_in_all_blocks_share_first_place() -> None:
    lines = standings(run_of(blocks(30, (0, 0, 0)))).standings
    # No interval: nothing shows by how much a block may differ.
    assert {(line.place, line.rank, line.score, line.low, line.high) for line in lines} == {
        (1, (1, 3), 0.0, None, None)
    }


def test_a_bot_that_never_played_is_listed_without_a_place() -> None:
    run = run_of(blocks(20, (3, 0, -3)), bots=[*BOTS, "zoe"])
    table = standings(run)
    zoe = row(table, "zoe")
    assert (zoe.place, zoe.score, zoe.won, zoe.rank) == (None, None, None, (1, 4))
    assert table.groups == 1
    assert row(table, "ann").place == 1
    assert "– zoe –" in printed(run)
