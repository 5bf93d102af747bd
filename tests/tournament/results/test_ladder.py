import random
from functools import cache
from operator import add
from typing import Any

import msgspec
import pytest

from tests.support.tournament.memory_run import MemoryRun, run_of
from tests.support.tournament.standings import match, row, without
from tournament.display.formatting import has_plain, table_notes
from tournament.formats.ladder import KnownBots, Ladder, draw_tables
from tournament.records import AnyDecision, Leave, MatchSummary
from tournament.results.files.export import rows
from tournament.results.files.exported_rows import ExportedRows
from tournament.results.standings import Standings, standings

OLD = "abcdefgh"  # from best to worst


@cache
def season(epochs: int = 30, late: str = "") -> list[MatchSummary]:
    played: list[MatchSummary] = []
    known, dice = KnownBots(), random.Random(1)
    for epoch in range(1, epochs + 1):
        bots = [*OLD, *late] if epoch == epochs else [*OLD]
        learnt = []
        for stage, table in draw_tables("seed", epoch, bots, 3, known):
            scores = [round(dice.gauss(-3 * OLD.find(bot), 4)) for bot in table]
            learnt.append((stage, dict(zip(table, map(float, scores), strict=True))))
            summary = match(len(played), 0, table, scores)
            played.append(summary._replace(round=epoch, stage=stage, seatings=1))
        known.add(learnt)
    return played


def ladder(played: list[MatchSummary], **about: Any) -> MemoryRun:
    return run_of(played, **{"bots": [*OLD], "format": Ladder(), "finished": False, **about})


@pytest.fixture(scope="module")
def plain() -> Standings:
    return standings(ladder(season()))


def exported(run: MemoryRun) -> Standings:
    lines = [msgspec.json.encode(line) for line in rows(run)]
    return standings(ExportedRows(lines, "export"))


def ranked(table: Standings) -> list[tuple[int | None, str, str]]:
    return [(line.place, line.bot, line.status) for line in table.standings]


def leave(bot: str) -> Leave:
    return Leave(number=1, at="2026-11-22T10:00:00+00:00", bot=bot)


def test_ranks_hold_at_any_time_and_order_no_bots_falsely(plain: Standings) -> None:
    assert ranked(plain) == [(place, bot, "") for place, bot in enumerate(OLD, 1)]
    assert all(line.rank[0] <= (line.place or 0) <= line.rank[1] for line in plain.standings)
    assert row(plain, "a").rank[1] < row(plain, "h").rank[0]
    finished = standings(ladder(season(), finished=True))
    assert plain.ranges == finished.ranges == "anytime"
    assert [line.rank for line in finished.standings] == [line.rank for line in plain.standings]


def test_new_bots_and_those_that_left_have_no_place(plain: Standings) -> None:
    run = ladder(season(40, late="z")[:-10], bots=[*OLD, "z", "nobody"], decisions=(leave("b"),))
    table = standings(run)
    old = [(place, bot, "") for place, bot in enumerate("acdefgh", 1)]
    out = [(None, "z", "new"), (None, "b", "left"), (None, "nobody", "new")]
    assert ranked(table) == [*old, *out]
    new = row(table, "z")
    assert (new.rank, new.score is None, 0 < new.matches < 10) == ((1, 7), False, True)
    assert max(line.rank[1] for line in table.standings if line.bot in OLD) == 7
    assert table.to_dict()["standings"][-1]["status"] == "new"
    assert "Bots with fewer than 10 blocks are new and have no place yet." in table_notes(table)
    played = [line for line in table.standings if line.bot != "nobody"]
    again = exported(run)
    assert ranked(again) == [(line.place, line.bot, line.status) for line in played]
    assert [line.score for line in again.standings] == [line.score for line in played]
    left = standings(ladder(season(), decisions=(leave("b"),)))
    assert row(left, "b").score == row(plain, "b").score


def test_a_bot_arrives_with_its_first_match_whatever_comes_later() -> None:
    """Or else the level of the others would change. A name that never plays costs no evidence."""
    early = [tuple(f"{number}{seat}" for seat in "xyz") for number in range(100, 130)]
    before = [match(number - 30, 0, bots, [0, 0, 0]) for number, bots in enumerate(early)]
    names = [bot for bots in early for bot in bots]

    def ranks(before: list[MatchSummary], *decisions: AnyDecision) -> list[tuple[int, int]]:
        run = ladder([*before, *season(12)], bots=[*names, *OLD], decisions=decisions)
        table = standings(run)
        return [row(table, bot).rank for bot in OLD]

    assert ranks([]) != ranks(before, *map(leave, names)) == ranks(before, *without(*names))
    alone = standings(ladder(season(12)))
    assert ranks([]) == [row(alone, bot).rank for bot in OLD]


def test_rows_may_lack_stages_and_epochs(plain: Standings) -> None:
    met = standings(ladder([summary._replace(stage="") for summary in season()]))
    lines = zip(plain.standings, met.standings, strict=True)
    assert sum(a.rank[1] - a.rank[0] - b.rank[1] + b.rank[0] for a, b in lines) < 0
    without_epochs = standings(ladder([summary._replace(round=0) for summary in season(12)]))
    assert [line.place for line in without_epochs.standings] == [*range(1, 9)]


def test_a_ladder_without_a_block_has_a_table() -> None:
    assert [line.status for line in standings(ladder([])).standings] == ["new"] * 8
    assert standings(ladder([], bots=[])).standings == ()
    two = standings(ladder([], bots=["ann", "bob"]))
    assert (two.duel, [line.status for line in two.standings]) == (None, ["new", "new"])


def test_a_bot_that_changes_is_placed_by_its_later_blocks() -> None:
    changing = []
    for summary in season(60):
        better = [40 * (bot == "h" and summary.block >= 500) for bot in summary.seating]
        changing.append(summary._replace(adjusted=tuple(map(add, summary.adjusted, better))))
    run = ladder(changing)
    table = standings(run)
    changed = row(table, "h")
    assert (changed.place, changed.rank[0]) == (1, 1)
    assert changed.blocks_since_change is not None
    assert 20 <= changed.blocks_since_change < changed.matches
    assert [line.bot for line in table.standings if line.blocks_since_change is not None] == ["h"]
    assert [line.bot for line in table.standings if line.bot != "h"] == [*OLD[:-1]]
    notes = "".join(table_notes(table))
    assert "Changed while playing, so that earlier blocks do not count: h." in notes
    assert not has_plain(table)
    assert exported(run).standings == table.standings
