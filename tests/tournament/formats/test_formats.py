"""The schedules of every format, from the cup's seed and the results alone."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.formats import BEGUN, Known, cup, plan, played, schedule, strength
from tournament.formats.knockout import cuts
from tournament.records import BlockRecord

KINDS: dict[str, dict[str, Any]] = {
    "round-robin": {},
    "swiss": {"rounds": 4},
    "knockout": {},
    "gauntlet": {"challenger": "bot02"},
    "halving": {},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seating", ["rotations", "permutations", "fixed"])
def test_a_schedule_is_what_it_says(kind: str, seating: str) -> None:
    made = cup(10, 4, type=kind, deals=3, seating=seating, **KINDS[kind])
    first = plan(made)
    blocks, _ = played(first)
    assert len(blocks) == first.blocks
    assert sum(len(block.seatings) for block in blocks) == first.matches
    assert [block.number for block in blocks] == list(range(1, len(blocks) + 1))
    for what in ("key", "seeds"):
        assert len({getattr(block, what) for block in blocks}) == len(blocks)
    matches = [match for block in blocks for match in block.matches]
    assert len(set(matches)) == len(matches)
    order = made.names.index
    for block in blocks:
        assert list(block.table) == sorted(block.table, key=order)
        assert all(sorted(seats) == sorted(block.table) for seats in block.seatings)
    assert played(plan(made))[0] == blocks
    assert played(plan(made, "other"))[0] != blocks


def test_rotations_seat_every_bot_once_at_every_seat() -> None:
    blocks, _ = played(schedule(4, 4, deals=20))
    for block in blocks:
        assert len(block.seatings) == 4
        for seat in range(4):
            assert {seats[seat] for seats in block.seatings} == set(block.table)
        neighbours = {(seats[i], seats[(i + 1) % 4]) for seats in block.seatings for i in range(4)}
        assert len(neighbours) == 4
    assert len({block.seatings for block in blocks}) > 3  # not always the same circle


def test_fixed_is_the_order_of_the_cup() -> None:
    blocks, _ = played(schedule(3, deals=5, seating="fixed"))
    assert {block.seatings for block in blocks} == {(("bot00", "bot01", "bot02"),)}


def test_round_robin_has_all_tables_in_every_pass() -> None:
    blocks, _ = played(schedule(6, 3, deals=4))
    tables = set(combinations([f"bot{i:02d}" for i in range(6)], 3))
    for start in range(0, len(blocks), len(tables)):
        assert {block.table for block in islice(blocks, start, start + len(tables))} == tables


def test_gauntlet_has_the_challenger_everywhere() -> None:
    blocks, _ = played(schedule(6, type="gauntlet", challenger="bot03", deals=2))
    assert all("bot03" in block.table for block in blocks)
    met = {frozenset(block.table) - {"bot03"} for block in blocks}
    assert len(met) == 10


@pytest.mark.parametrize("kind", ["round-robin", "gauntlet"])
@pytest.mark.parametrize(("bots", "deals"), [(7, 2), (5, 3), (8, 4)])
def test_a_cup_that_has_grown_keeps_its_blocks(kind: str, bots: int, deals: int) -> None:
    before, _ = played(schedule(5, 3, type=kind, deals=2, **KINDS[kind]))
    grown = schedule(bots, 3, type=kind, deals=deals, **KINDS[kind])
    after = {block.key: block for block in played(grown)[0]}
    for block in before:
        same = after[block.key]
        assert (same.seeds, same.seatings, same.matches) == (
            block.seeds,
            block.seatings,
            block.matches,
        )
        kept = BlockRecord(block.number, block.key, 3, 3)
        assert grown.number(kept) == same.number


def test_swiss_seats_equals_together_and_avoids_repeats() -> None:
    made = cup(12, 3, type="swiss", rounds=4, deals=1)
    blocks, _ = played(plan(made))
    met: Counter[frozenset[str]] = Counter()
    for block in blocks:
        met.update(frozenset(two) for two in combinations(block.table, 2))
    assert max(met.values()) <= 2
    assert sum(count > 1 for count in met.values()) <= 6
    second = [block.table for block in blocks if block.round == 4]
    spread = [max(map(strength, table)) - min(map(strength, table)) for table in second]
    assert sum(spread) / len(spread) < 8


def test_swiss_has_no_repeats_where_there_are_bots_enough() -> None:
    blocks, _ = played(schedule(60, 3, type="swiss", rounds=10, deals=1))
    met = Counter(frozenset(two) for block in blocks for two in combinations(block.table, 2))
    assert set(met.values()) == {1}


def test_swiss_rests_nobody_twice_before_everybody_has() -> None:
    made = cup(8, 3, type="swiss", rounds=8, deals=1)
    blocks, _ = played(plan(made))
    byes = Counter(
        name
        for number in range(1, 9)
        for name in made.names
        if not any(name in block.table for block in blocks if block.round == number)
    )
    assert set(byes.values()) == {2}
    assert len(byes) == 8


def test_swiss_is_drawn_anew_only_from_results() -> None:
    made = cup(9, 3, type="swiss", rounds=3, deals=1)
    one, _ = played(plan(made))
    other, _ = played(plan(made), lambda name: -strength(name))
    assert one[:3] == other[:3]
    assert one[3:] != other[3:]


@given(st.integers(3, 6), st.integers(0, 60))
def test_a_knockout_ends_with_a_full_final(players: int, more: int) -> None:
    bots = players + more
    for index, cut in enumerate(cuts(bots, players)):
        assert len(cut) * players <= bots
        assert all(1 <= count < players for count in cut)
        usual = cut if index else cut[:-1]
        assert all(count == players // 2 for count in usual)
        bots -= sum(players - count for count in cut)
    assert bots == players


@pytest.mark.parametrize(("bots", "players"), [(9, 3), (16, 4), (7, 3), (12, 5), (20, 6)])
def test_the_better_half_advances_and_the_best_wins(bots: int, players: int) -> None:
    made = cup(bots, players, type="knockout", deals=2)
    knockout = plan(made)
    blocks, results = played(knockout)
    numbered = knockout.places(BEGUN, Known(results))
    assert numbered is not None
    places = list(numbered)
    assert sorted(places) == sorted(made.names)
    assert list(numbered.values()) == sorted(numbered.values())
    assert places[0] == "bot00"
    stages = [block.stage for block in blocks]
    assert stages.count("final") == 2
    final = next(block.table for block in blocks if block.stage == "final")
    assert set(final) == set(places[:players])
    if bots >= 2 * players:
        bronze = next(block.table for block in blocks if block.stage == "bronze")
        assert set(bronze) == set(places[players : 2 * players])
        assert not set(bronze) & set(final)


def test_bots_that_tie_share_a_place_and_no_draw_decides_it() -> None:
    """The draw decides only who plays on; the bots of a table that are out share their place."""
    made = cup(9, type="knockout", deals=1)
    for seed in map(str, range(5)):
        knockout = plan(made, seed)
        _, results = played(knockout, lambda name: Fraction(0))
        places = knockout.places(BEGUN, Known(results))
        assert places is not None
        assert list(places.values()) == [1, 1, 1, 4, 4, 4, 7, 7, 7]


def test_earlier_rounds_break_a_tie_of_the_final() -> None:
    """All three of the final score 0 there; the one with more points before is first."""
    knockout = schedule(9, type="knockout", deals=1)
    _, results = played(knockout)
    final = next(key for key in results[2] if key[0] == "final")
    results[2][final] = dict.fromkeys(final[1], Fraction(0))
    places = knockout.places(BEGUN, Known(results))
    assert places is not None
    assert [name for name, place in places.items() if place <= 3] == sorted(final[1])
    assert list(places.values()) == list(range(1, 10))


def test_seeds_keep_the_best_apart() -> None:
    seeds = tuple(f"bot{i:02d}" for i in range(16))
    blocks, _ = played(schedule(16, 4, type="knockout", deals=1, seeds=seeds))
    first = [block.table for block in blocks if block.round == 1]
    assert len(first) == 4
    for table in first:
        assert sum(name in seeds[:4] for name in table) == 1
        assert sum(name in seeds[-4:] for name in table) == 1


def test_without_bronze_there_is_none() -> None:
    blocks, _ = played(schedule(9, 3, type="knockout", deals=1, bronze=False))
    assert "bronze" not in {block.stage for block in blocks}


def test_equal_scores_are_decided_by_draw_not_by_place() -> None:
    winners: set[str] = set()
    for seed in map(str, range(12)):
        blocks, _ = played(
            schedule(9, 3, type="knockout", deals=1, seed=seed), lambda name: Fraction(0)
        )
        winners.update(next(block.table for block in blocks if block.stage == "final"))
    assert len(winners) > 6


def test_only_fresh_cards_deal_anew_for_each_seating() -> None:
    shared, fresh = (
        played(schedule(4, 3, deals=2, cards=cards))[0] for cards in ("shared", "fresh")
    )
    assert all(len(set(block.seeds)) == 1 for block in shared)
    seeds = [seed for block in fresh for seed in block.seeds]
    assert len(set(seeds)) == len(seeds) == 24
    assert [block.seatings for block in fresh] == [block.seatings for block in shared]
