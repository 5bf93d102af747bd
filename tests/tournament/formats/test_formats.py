"""The schedules of every format, from the cup's seed and the results alone."""

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pages import blocks
from tests.support.tournament import one_table
from tests.support.tournament import played as matches
from tests.support.tournament.formats import (
    BEGUN,
    Known,
    Results,
    cup,
    plan,
    played,
    schedule,
    strength,
)
from tournament.formats import FORMATS, Block, Plan, halving
from tournament.formats.knockout import cuts
from tournament.records import BlockRecord
from tournament.results.standings import standings
from tournament.results.verify import verify

KINDS: dict[str, dict[str, Any]] = {
    "round-robin": {},
    "swiss": {"rounds": 4},
    "knockout": {},
    "gauntlet": {"challenger": "bot02"},
    "halving": {},
}


def equal(name: str) -> Fraction:
    return Fraction(0)


def meetings(blocks: Iterable[Block]) -> Counter[frozenset[str]]:
    return Counter(frozenset(two) for block in blocks for two in combinations(block.table, 2))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seating", ["rotations", "permutations", "fixed"])
def test_a_schedule_is_what_it_says(kind: str, seating: str) -> None:
    made = cup(10, 4, type=kind, deals=3, seating=seating, **KINDS[kind])
    first = plan(made)
    blocks, _ = played(first)
    assert [block.number for block in blocks] == list(range(1, first.blocks + 1))
    assert len({block.key for block in blocks}) == len({block.seeds for block in blocks})
    assert len({block.key for block in blocks}) == first.blocks
    assert sum(len(block.seatings) for block in blocks) == first.matches
    assert len({match for block in blocks for match in block.matches}) == first.matches
    for block in blocks:
        assert list(block.table) == sorted(block.table, key=made.names.index)
        assert all(sorted(seats) == sorted(block.table) for seats in block.seatings)
        assert seating != "fixed" or block.seatings == (block.table,)
    assert played(plan(made))[0] == blocks
    assert played(plan(made, "other"))[0] != blocks


def test_rotations_seat_every_bot_once_at_every_seat() -> None:
    blocks, _ = played(schedule(4, 4, deals=20))
    for block in blocks:
        assert [set(seat) for seat in zip(*block.seatings, strict=True)] == [{*block.table}] * 4
        neighbours = {(seats[i], seats[(i + 1) % 4]) for seats in block.seatings for i in range(4)}
        assert len(neighbours) == 4
    assert len({block.seatings for block in blocks}) > 3  # not always the same circle


@pytest.mark.parametrize(("kind", "always"), [("round-robin", set()), ("gauntlet", {"bot02"})])
def test_every_pass_has_all_tables(kind: str, always: set[str]) -> None:
    blocks, _ = played(schedule(6, 3, type=kind, deals=4, **KINDS[kind]))
    every = combinations([f"bot{i:02d}" for i in range(6)], 3)
    tables = {table for table in every if always <= set(table)}
    for start in range(0, len(blocks), len(tables)):
        assert {block.table for block in blocks[start : start + len(tables)]} == tables


@pytest.mark.parametrize("kind", ["round-robin", "gauntlet"])
@pytest.mark.parametrize(("bots", "deals"), [(7, 2), (5, 3), (8, 4)])
def test_a_cup_that_has_grown_keeps_its_blocks(kind: str, bots: int, deals: int) -> None:
    before, _ = played(schedule(5, 3, type=kind, deals=2, **KINDS[kind]))
    grown = schedule(bots, 3, type=kind, deals=deals, **KINDS[kind])
    after = {block.key: block for block in played(grown)[0]}
    for block in before:
        same = after[block.key]
        assert replace(same, number=block.number, round=block.round) == block
        assert grown.number(BlockRecord(block.number, block.key, 3, 3)) == same.number


def swiss(bots: int, rounds: int, score: Callable[[str], Fraction] = strength) -> list[Block]:
    return played(schedule(bots, 3, type="swiss", rounds=rounds, deals=1), score)[0]


def test_swiss_seats_equals_together_and_avoids_repeats() -> None:
    blocks = swiss(12, 4)
    met = meetings(blocks)
    assert max(met.values()) <= 2
    assert sum(count > 1 for count in met.values()) <= 6
    last = [sorted(map(strength, block.table)) for block in blocks if block.round == 4]
    assert sum(table[-1] - table[0] for table in last) / len(last) < 8
    assert set(meetings(swiss(60, 10)).values()) == {1}, "there are bots enough"


def test_swiss_rests_nobody_twice_before_everybody_has() -> None:
    seats = Counter(name for block in swiss(8, 8) for name in block.table)
    assert list(seats.values()) == [6] * 8


def test_swiss_is_drawn_anew_only_from_results() -> None:
    usual, reversed = swiss(9, 3), swiss(9, 3, lambda name: -strength(name))
    assert usual[:3] == reversed[:3]
    assert usual[3:] != reversed[3:]


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


def places_of(knockout: Plan, results: Any) -> dict[str, int]:
    return knockout.places(BEGUN, Known(results)) or {}


@pytest.mark.parametrize(("bots", "players"), [(9, 3), (16, 4), (7, 3), (12, 5), (20, 6)])
def test_the_better_half_advances_and_the_best_wins(bots: int, players: int) -> None:
    knockout = schedule(bots, players, type="knockout", deals=2)
    blocks, results = played(knockout)
    places = places_of(knockout, results)
    ranked = list(places)
    assert sorted(ranked) == [f"bot{i:02d}" for i in range(bots)]
    assert (ranked[0], list(places.values())) == ("bot00", sorted(places.values()))
    tables = {block.stage: set(block.table) for block in blocks}
    assert [block.stage for block in blocks].count("final") == 2
    assert tables["final"] == set(ranked[:players])
    if bots >= 2 * players:
        assert tables["bronze"] == set(ranked[players : 2 * players])


@pytest.mark.parametrize("seed", list("01234"))
def test_tied_bots_share_a_place_and_no_draw_decides_it(seed: str) -> None:
    """The draw decides only who plays on. The bots of a table that are out share their place."""
    knockout = schedule(9, type="knockout", deals=1, seed=seed)
    _, results = played(knockout, equal)
    assert list(places_of(knockout, results).values()) == [1, 1, 1, 4, 4, 4, 7, 7, 7]


def test_earlier_rounds_break_a_tie_of_the_final() -> None:
    knockout = schedule(9, type="knockout", deals=1)
    _, results = played(knockout)
    final = next(key for key in results[2] if key[0] == "final")
    results[2][final] = dict.fromkeys(final[1], Fraction(0))
    places = places_of(knockout, results)
    assert [name for name, place in places.items() if place <= 3] == sorted(final[1])
    assert list(places.values()) == list(range(1, 10))


def test_seeds_keep_the_best_apart() -> None:
    seeds = tuple(f"bot{i:02d}" for i in range(16))
    blocks, _ = played(schedule(16, 4, type="knockout", deals=1, seeds=seeds, bronze=False))
    first = [block.table for block in blocks if block.round == 1]
    assert len(first) == 4
    for table in first:
        assert len({*table} & {*seeds[:4]}) == len({*table} & {*seeds[-4:]}) == 1
    assert "bronze" not in {block.stage for block in blocks}


@pytest.mark.parametrize("kind", ["knockout", "halving"])
def test_equal_scores_are_decided_by_draw_not_by_name(kind: str) -> None:
    finalists: set[str] = set()
    for seed in map(str, range(12)):
        blocks, _ = played(schedule(9, 3, type=kind, deals=2, seed=seed), equal)
        finalists.update(next(block.table for block in blocks if block.stage == "final"))
    assert len(finalists) > 6


def test_only_fresh_cards_deal_anew_for_each_seating() -> None:
    shared, fresh = (
        played(schedule(4, 3, deals=2, cards=cards))[0] for cards in ("shared", "fresh")
    )
    assert all(len(set(block.seeds)) == 1 for block in shared)
    seeds = [seed for block in fresh for seed in block.seeds]
    assert len(set(seeds)) == len(seeds) == 24
    assert [block.seatings for block in fresh] == [block.seatings for block in shared]


@pytest.mark.parametrize(
    ("bots", "players", "sizes"),
    [
        (30, 3, [30, 15, 9, 6, 3]),
        (30, 4, [30, 16, 8, 4]),
        (10, 3, [10, 6, 3]),
        (4, 3, [4, 3]),
        (3, 3, [3]),
        (100, 5, [100, 50, 25, 15, 10, 5]),
    ],
)
def test_the_better_half_plays_on_to_one_table(bots: int, players: int, sizes: list[int]) -> None:
    blocks, _ = played(schedule(bots, players, type="halving", deals=4))
    best = [f"bot{i:02d}" for i in range(bots)]
    for number, size in enumerate(sizes, 1):
        stage = (block.table for block in blocks if block.round == number)
        assert set().union(*stage) == set(best[:size])
    assert blocks[-1].round == len(sizes)


@given(st.integers(3, 6), st.integers(0, 200), st.integers(1, 20))
def test_every_stage_has_as_many_blocks_as_the_first(players: int, more: int, deals: int) -> None:
    stages = halving.stages(players + more, players, deals)
    first, *_ = blocks = [stage.bots // players * stage.seatings for stage in stages]
    for size, stage in zip(blocks, stages, strict=True):
        assert first <= size < first + stage.bots
    assert stages[-1].bots == players


@pytest.mark.parametrize(("deals", "plays"), [(11, {9}), (1, {1, 2})])
def test_nobody_sits_out_twice_before_everybody_has(deals: int, plays: set[int]) -> None:
    blocks, _ = played(schedule(11, 3, type="halving", deals=deals))
    seats = Counter(name for block in blocks if block.round == 1 for name in block.table)
    assert len(seats) == 11
    assert set(seats.values()) == plays


def test_all_blocks_so_far_decide_who_plays_on() -> None:
    """A bot that was far ahead in the first stage survives a bad second one."""
    results: Results = {}
    reached: dict[int, set[str]] = {}
    for round in schedule(12, type="halving", deals=10).rounds(BEGUN, Known(results)):
        blocks = list(round.blocks)
        reached[round.number] = {name for block in blocks for name in block.table}
        lead = 20 if round.number == 1 else -1
        results[round.number] = {
            (block.stage, block.table): {
                name: Fraction(lead * (name == "bot05")) for name in block.table
            }
            for block in blocks
        }
    assert all("bot05" in bots for bots in reached.values())


def test_a_format_is_one_file_and_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example of docs/architecture.md plays, resumes and is verified."""
    (example,) = blocks("docs/architecture.md", "python")
    names: dict[str, Any] = {"__name__": "relay"}
    exec(example, names)
    monkeypatch.setitem(FORMATS, "relay", names["Relay"])
    relay = replace(cup(6), format=names["Relay"](deals=1))
    with matches.unfinished(tmp_path, relay) as store:
        for after in ({7: one_table.stop}, {}):
            with suppress(one_table.Stopped):
                one_table.play(store, relay, after)
        assert verify(store).mismatches == []
        assert store.count() == store.run().total == 3 * 2 * 3
        assert standings(store).format == "relay"
        assert {match.stage for match in store.summaries()} == {"lap 1", "lap 2", "lap 3"}
