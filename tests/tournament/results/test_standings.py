import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.memory_run import run_of
from tests.support.standings import BOTS, cup, match, row, without
from tournament.formats.halving import Halving
from tournament.formats.stop import Stop
from tournament.results.standings import StopRule, standings


def test_the_score_is_points_a_deal() -> None:
    table = standings(
        run_of([match(0, 0, BOTS, (5, -1, -4), deals=2), match(0, 1, BOTS, (1, 1, -2), deals=1)])
    )
    assert [line.score for line in table.standings] == [2.0, 0.0, -2.0]
    assert (table.blocks, table.matches, table.deals) == (1, 2, 3)
    assert (row(table, "ann").matches, row(table, "ann").deals) == (2, 3)


def test_a_struck_out_bot_has_the_worst_score_of_its_table() -> None:
    table = standings(run_of([match(0, 0, BOTS, (6, -2, -4), struck=(0,))]))
    assert row(table, "ann").score == -4
    assert row(table, "ann").struck_out == 1
    assert row(table, "ann").won == 0
    # The others' scores stand, and one of them won.
    assert row(table, "bob").score == -2
    assert row(table, "bob").won == 1


def test_equal_totals_share_the_match() -> None:
    table = standings(
        run_of(
            [
                match(0, 0, BOTS, (2, 2, -4)),
                match(0, 1, BOTS, (0, 0, 0)),
                match(1, 0, BOTS, (9, 0, 0)),
            ]
        )
    )
    assert row(table, "ann").won == pytest.approx((1 / 2 + 1 / 3 + 1) / 3, abs=1e-15)
    assert row(table, "cat").won == pytest.approx(1 / 9, abs=1e-15)
    assert sum(line.won or 0 for line in table.standings) == pytest.approx(1)


def test_a_bot_whose_tables_were_taken_out_comes_last_of_its_stage_of_a_halving() -> None:
    final = match(2, 0, ("ann", "bob", "dan"), (9, 0, -9))._replace(round=2, stage="final")
    table = standings(
        run_of(
            [match(0, 0, BOTS, (5, 3, -8)), match(1, 0, ("dan", "eve", "fay"), (1, 6, -7)), final],
            format=Halving(),
            decisions=without("ann"),
        )
    )
    places = {line.bot: line.place for line in table.standings}
    assert list(places.items()) == [("dan", 1), ("bob", 2), ("eve", 3), ("fay", 4), ("cat", 5)]
    assert table.course is not None
    assert table.course.winners == ("dan",)


def test_who_ended_a_cup_and_when_stays_after_a_disqualification() -> None:
    stop = Stop(1, 0.9)
    for decisions in ((), without("ann"), without("bob")):
        table = standings(run_of(cup(12), stop=stop, decisions=decisions, settled=("ann",)))
        assert table.stop == StopRule(1, 0.9, ("ann",), 12)
    table = standings(run_of(cup(12), stop=stop, decisions=without("ann")))
    assert table.stop == StopRule(1, 0.9, (), None)


def test_two_bots_that_are_left_of_three_have_not_played_a_duel() -> None:
    pairs = [("ann", "bob"), ("bob", "cat"), ("cat", "ann")]
    three = [match(block, 0, pairs[block % 3], (2, -2)) for block in range(12)]
    left = standings(run_of(three, decisions=without("cat")))
    assert (left.duel, left.ranges, left.blocks) == (None, "final", 4)
    alone = standings(run_of([one for one in three if "cat" not in one.table]))
    assert alone.duel is not None
    nothing_left = standings(run_of(cup(), decisions=without("cat")))
    assert (nothing_left.duel, nothing_left.matches) == (None, 0)
    assert [line.rank for line in nothing_left.standings] == [(1, 2), (1, 2)]


def test_faults_by_kind() -> None:
    faults = [(1, 0, 2, 0), (0, 0, 0, 0), (0, 3, 0, 1)]
    table = standings(run_of([match(0, 0, BOTS, (0, 0, 0), faults=faults)] * 1))
    assert row(table, "ann").faults == {"timeout": 1, "unreachable": 0, "invalid": 2, "illegal": 0}
    assert row(table, "bob").faults == dict.fromkeys(row(table, "ann").faults, 0)
    assert row(table, "cat").faults == {"timeout": 0, "unreachable": 3, "invalid": 0, "illegal": 1}


def test_thinking_time_is_over_all_requests_of_a_bot() -> None:
    times = [[1.0, 2.0], [10.0], []]
    more = [[3.0] * 97 + [50.0], [], []]
    table = standings(
        run_of(
            [match(0, 0, BOTS, (0, 0, 0), times=times), match(0, 1, BOTS, (0, 0, 0), times=more)]
        )
    )
    ann = row(table, "ann").move_ms
    assert ann.median == 3.0
    assert ann.p99 == pytest.approx(3.47, abs=0.01)
    assert (row(table, "bob").move_ms.median, row(table, "cat").move_ms.median) == (10.0, None)


def test_a_bot_with_two_seats_counts_both() -> None:
    table = standings(run_of([match(0, 0, ("ann", "bob", "ann"), (4, -6, 2))]))
    ann = row(table, "ann")
    assert (ann.score, ann.matches, ann.deals, ann.won) == (3.0, 1, 1, 1.0)
    assert row(table, "bob").score == -6


def test_an_empty_run_has_an_empty_table() -> None:
    table = standings(run_of([], finished=False))
    assert table.to_dict() == {
        "name": "Test", "game": "doudizhu", "format": "round-robin", "finished": False,
        "stop": None,
        "ranges": "anytime", "groups": 0, "blocks": 0, "matches": 0, "deals": 0, "course": None,
        "duel": None,
        "standings": (), "decisions": (), "incidents": (),
    }  # fmt: skip
    assert standings(run_of([], bots=["ann"])).standings[0].rank == (1, 1)


def test_the_json_has_the_fields_of_the_promise() -> None:
    data = json.loads(json.dumps(standings(run_of(cup())).to_dict(), allow_nan=False))
    assert list(data) == [
        "name", "game", "format", "finished", "stop", "ranges", "groups", "blocks", "matches",
        "deals", "course", "duel", "standings", "decisions", "incidents",
    ]  # fmt: skip
    first = data["standings"][0]
    assert list(first) == [
        "place", "rank", "bot", "score", "low", "high", "plain", "group",
        "matches", "deals", "won", "faults", "struck_out", "move_ms", "fallback",
    ]  # fmt: skip
    assert list(first["faults"]) == ["timeout", "unreachable", "invalid", "illegal"]
    assert list(first["move_ms"]) == ["median", "p99"]
    assert first["bot"] == "ann"
    assert (first["place"], first["rank"]) == (1, [1, 1])
    assert first["low"] < first["score"] < first["high"]
    assert data["standings"][1]["rank"] == [2, 3]


def test_copies_of_one_block_are_one_block() -> None:
    """Twice the same matches in every block say nothing new about the spread between blocks."""
    once = standings(run_of(cup()))
    doubled = [
        twin
        for one in cup()
        for twin in (one, one._replace(match=one.match + "x", number=one.number + 3))
    ]
    twice = standings(run_of(doubled))
    for bot in BOTS:
        assert row(once, bot).score == row(twice, bot).score
        assert row(once, bot).low == row(twice, bot).low
        assert row(once, bot).high == row(twice, bot).high


@settings(max_examples=20, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 9))
def test_the_order_in_which_matches_ended_changes_no_digit(
    dice: random.Random, blocks: int
) -> None:
    played = cup(blocks)
    shuffled = dice.sample(played, len(played))
    assert standings(run_of(played)) == standings(run_of(shuffled))
