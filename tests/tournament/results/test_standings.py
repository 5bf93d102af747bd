import json
import random
from collections.abc import Sequence
from contextvars import copy_context
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tournament.memory_run import run_of
from tests.support.tournament.standings import BOTS, cup, match, row, without
from tournament.display.formatting import fault_summary, info_text, table_notes
from tournament.formats import Format
from tournament.formats.halving import Halving
from tournament.formats.knockout import Knockout
from tournament.formats.round_robin import Gauntlet, RoundRobin
from tournament.formats.stopping import Stop
from tournament.language import speak
from tournament.records import AnyDecision, MatchSummary, Undo, Withdraw
from tournament.results.standings import Standings, StopRule, standings
from web.ui.languages import read_catalog


def table_of(*matches: MatchSummary, **about: Any) -> Standings:
    return standings(run_of(list(matches), **about))


def equal_blocks(
    count: int, points: Sequence[int], bots: Sequence[str] = BOTS, first: int = 0
) -> list[MatchSummary]:
    """Blocks of three rotations in which each bot always has the same points."""
    return [
        match(block, turn, [*bots[turn:], *bots[:turn]], [*points[turn:], *points[:turn]])
        for block in range(first, first + count)
        for turn in range(3)
    ]


def test_the_score_is_points_per_deal_at_all_seats() -> None:
    table = table_of(match(0, 0, BOTS, (5, -1, -4), deals=2), match(0, 1, BOTS, (1, 1, -2)))
    assert [line.score for line in table.standings] == [2.0, 0.0, -2.0]
    assert (table.blocks, table.matches, table.deals) == (1, 2, 3)
    assert (row(table, "ann").matches, row(table, "ann").deals) == (2, 3)
    table = table_of(match(0, 0, ("ann", "bob", "ann"), (4, -6, 2)))
    ann = row(table, "ann")
    assert (ann.score, ann.matches, ann.deals, ann.won) == (3.0, 1, 1, 1.0)
    assert row(table, "bob").score == -6


def test_the_best_seats_share_the_match() -> None:
    points = ((2, 2, -4), (0, 0, 0), (9, 0, 0))
    table = table_of(*(match(block, 0, BOTS, scores) for block, scores in enumerate(points)))
    won = [row(table, bot).won for bot in BOTS]
    assert won == pytest.approx([(1 / 2 + 1 / 3 + 1) / 3, (1 / 2 + 1 / 3) / 3, 1 / 9], abs=1e-15)
    # A bot that is struck out has the worst score of its table; the others' scores stand.
    table = table_of(match(0, 0, BOTS, (6, -2, -4), struck=(0,)))
    lines = {line.bot: (line.score, line.struck_out, line.won) for line in table.standings}
    assert lines == {"ann": (-4, 1, 0), "bob": (-2, 0, 1), "cat": (-4, 0, 0)}


def test_a_bot_without_tables_is_last_in_its_halving_stage() -> None:
    final = match(2, 0, ("ann", "bob", "dan"), (9, 0, -9))._replace(round=2, stage="final")
    first = match(0, 0, BOTS, (5, 3, -8)), match(1, 0, ("dan", "eve", "fay"), (1, 6, -7))
    table = table_of(*first, final, format=Halving(), decisions=without("ann"))
    places = [(line.bot, line.place) for line in table.standings]
    assert places == [("dan", 1), ("bob", 2), ("eve", 3), ("fay", 4), ("cat", 5)]
    assert table.course is not None
    assert table.course.winners == ("dan",)


def test_a_disqualification_does_not_change_when_a_cup_ended() -> None:
    stop = Stop(1, 0.9)
    for decisions in ((), without("ann"), without("bob")):
        table = table_of(*cup(12), stop=stop, decisions=decisions, settled=("ann",))
        assert table.stop == StopRule(1, 0.9, ("ann",), 12)
    table = table_of(*cup(12), stop=stop, decisions=without("ann"))
    assert table.stop == StopRule(1, 0.9, (), None)


def test_two_remaining_bots_of_three_have_not_played_a_duel() -> None:
    pairs = [("ann", "bob"), ("bob", "cat"), ("cat", "ann")]
    three = [match(block, 0, pairs[block % 3], (2, -2)) for block in range(12)]
    left = table_of(*three, decisions=without("cat"))
    assert (left.duel, left.ranges, left.blocks) == (None, "final", 4)
    assert table_of(*(played for played in three if "cat" not in played.table)).duel is not None
    nothing_left = table_of(*cup(), decisions=without("cat"))
    assert (nothing_left.duel, nothing_left.matches) == (None, 0)
    assert [line.rank for line in nothing_left.standings] == [(1, 2), (1, 2)]


@pytest.mark.parametrize(
    ("format", "decisions", "kind"),
    [
        (RoundRobin(), (Withdraw(bot="cat"),), "anytime"),
        (Gauntlet(challenger="ann"), (Withdraw(bot="cat"),), "anytime"),
        (RoundRobin(), (Withdraw(bot="cat"), Undo(bot="cat")), "final"),
        (RoundRobin(), without("cat"), "final"),
        (Knockout(), (Withdraw(bot="cat"),), "final"),
    ],
)
def test_results_may_decide_when_a_bot_is_withdrawn(
    format: Format, decisions: tuple[AnyDecision, ...], kind: str
) -> None:
    assert table_of(*cup(), format=format, decisions=decisions).ranges == kind


def test_faults_and_times_are_those_of_each_bot() -> None:
    faults = [(1, 0, 2, 0), (0, 0, 0, 0), (0, 3, 0, 1)]
    first, second = [[1.0, 2.0], [10.0], []], [[3.0] * 97 + [50.0], [], []]
    faulty = match(0, 0, BOTS, (0, 0, 0), times=first, faults=faults)
    table = table_of(faulty, match(0, 1, BOTS, (0, 0, 0), times=second))
    kinds = ("timeout", "unreachable", "invalid", "illegal")
    expected = [dict(zip(kinds, counts, strict=True)) for counts in faults]
    assert [row(table, bot).faults for bot in BOTS] == expected
    assert [row(table, bot).move_ms.median for bot in BOTS] == [3.0, 10.0, None]
    assert row(table, "ann").move_ms.p99 == pytest.approx(3.47, abs=0.01)


def test_times_at_tables_that_do_not_count_are_left_out() -> None:
    early = match(0, 0, ("ann", "bob"), (0, 0), times=[[1, 1], [7]])._replace(fallbacks=(1, 0))
    cheated = match(0, 1, ("cat", "ann"), (0, 0), times=[[5], [90, 90, 90]])
    late = match(1, 0, ("bob", "ann"), (0, 0), times=[[8, 9], [2, 2]])
    table = table_of(late, cheated, early, decisions=without("cat"))
    assert [row(table, bot).move_ms.median for bot in ("ann", "bob")] == [1.5, 8]
    assert row(table, "ann").fallback == 1 / 4
    assert table_of(early, decisions=without("ann")).standings[0].move_ms.median is None


def test_groups_of_bots_that_never_met_are_not_ranked() -> None:
    others = equal_blocks(20, (9, 0, -9), ("dan", "eve", "fay"), first=50)
    table = table_of(*equal_blocks(20, (3, 0, -3)), *others)
    assert (table.groups, {line.group for line in table.standings}) == (2, {1, 2})
    assert {line.place for line in table.standings} == {None}
    # Within a group the order is settled; of the other group nothing is known.
    assert (row(table, "ann").rank, row(table, "fay").rank) == ((1, 4), (3, 6))
    assert [*table_notes(table)][-2:] == [
        "The bots form 2 groups that never met: scores cannot be compared between groups.",
        "So there are no places.",
    ]
    english, german = set(table_notes(table)), copy_context()
    german.run(speak, read_catalog("de"))
    assert english.isdisjoint(german.run(list, table_notes(table))), "every note is translated"


def test_faults_and_fallbacks_are_in_the_readers_language() -> None:
    ann = row(table_of(match(0, 0, BOTS, (6, -2, -4))), "ann")
    for language, faults, info in (
        ("en", "3 timeout, out 2×", "fallback: late · value −2.5"),
        ("de", "3 timeout, 2× ausgeschieden", "Ersatz: late · value −2.5"),
        ("zh", "3 timeout, 被罚下 2 次", "后备程序：late · value −2.5"),
    ):
        reader = copy_context()
        reader.run(speak, read_catalog(language))
        line = replace(ann, faults={"timeout": 3}, struck_out=2)
        assert reader.run(fault_summary, line) == faults
        assert reader.run(info_text, {"value": -2.5}, "late") == info


def test_one_block_or_equal_blocks_have_no_intervals() -> None:
    table = table_of(*equal_blocks(1, (4, 0, -4)))
    lines = [(line.bot, line.place, line.rank, line.low, line.high) for line in table.standings]
    assert lines == [(bot, place, (1, 3), None, None) for place, bot in enumerate(BOTS, 1)]
    equal = table_of(*equal_blocks(30, (0, 0, 0))).standings
    assert {(line.place, line.rank, line.score, line.low, line.high) for line in equal} == {
        (1, (1, 3), 0.0, None, None)
    }


def test_bots_that_never_played_are_listed_without_a_place() -> None:
    table = table_of(*equal_blocks(20, (3, 0, -3)), bots=[*BOTS, "zoe"])
    zoe = row(table, "zoe")
    assert (zoe.place, zoe.score, zoe.won, zoe.rank) == (None, None, None, (1, 4))
    assert (table.groups, row(table, "ann").place) == (1, 1)
    empty = table_of(finished=False)
    assert (empty.groups, empty.blocks, empty.matches, empty.standings) == (0, 0, 0, ())
    assert table_of(bots=["ann"]).standings[0].rank == (1, 1)


def test_the_json_has_the_documented_fields() -> None:
    data = json.loads(json.dumps(table_of(*cup()).to_dict(), allow_nan=False))
    assert list(data) == [
        "name", "game", "format", "finished", "stop", "ranges", "groups", "blocks",
        "matches", "deals", "course", "duel", "standings", "decisions", "incidents",
    ]  # fmt: skip
    first = data["standings"][0]
    assert list(first) == [
        "place", "rank", "bot", "score", "low", "high", "plain", "group",
        "matches", "deals", "won", "faults", "struck_out", "move_ms", "fallback",
    ]  # fmt: skip
    assert list(first["faults"]) == ["timeout", "unreachable", "invalid", "illegal"]
    assert list(first["move_ms"]) == ["median", "p99"]
    assert (first["bot"], first["place"], first["rank"]) == ("ann", 1, [1, 1])
    assert first["low"] < first["score"] < first["high"]
    assert data["standings"][1]["rank"] == [2, 3]


def test_copies_of_one_block_are_one_block() -> None:
    """Twice the same matches in every block say nothing new about the spread between blocks."""
    copies = [match._replace(match=match.match + "x", number=match.number + 3) for match in cup()]
    tables = table_of(*cup()), table_of(*cup(), *copies)
    once, twice = ([(line.score, line.low, line.high) for line in t.standings] for t in tables)
    assert once == twice


@settings(max_examples=20, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 9))
def test_the_order_of_matches_changes_no_digit(dice: random.Random, blocks: int) -> None:
    played = cup(blocks)
    assert table_of(*played) == table_of(*dice.sample(played, len(played)))
