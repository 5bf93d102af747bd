"""Small versions of `tools/simulation/ladders.py`, seeded, and what the proof rests on."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tools.simulation.ladders import (
    away,
    everybody,
    jump,
    rows,
    season,
    seasons,
    steady,
)
from tools.simulation.recall import by_ladder, by_round_robin, recall
from tools.simulation.simulated_cups import NOISES, normal, simulated, spaced
from tournament.ranking.arrays import LEVEL, Floats, Ints
from tournament.ranking.evidence import Evidence
from tournament.ranking.ladder import LadderRecord
from tournament.ranking.ranks import settled_by_arrival


@pytest.mark.parametrize("which", range(8))
def test_no_look_at_a_ladder_shows_a_false_order(which: int) -> None:
    _, cases = list(rows())[which]
    short = [replace(case, blocks=800) for case in cases]
    assert seasons(short, 3, first=4).false == 0


def test_what_is_settled_grows_to_half_of_the_pairs_that_stay() -> None:
    effects = spaced(12, 2.0)
    case = steady(effects, simulated(effects, normal))
    looks = [settled for _, settled in season(case, 3)]
    assert looks[-1].sum() > 0.5 * 66
    assert all(after.sum() >= before.sum() - 3 for before, after in pairwise(looks))


def test_a_ladder_finds_the_top_sooner_than_even_tables() -> None:
    assert recall(by_ladder(200), 30) > recall(by_round_robin(200), 60) + 3


def evidence_of(count: int, bots: int) -> Evidence:
    """Every bot was better in each of so many blocks than those after it."""
    sign = np.sign(np.subtract.outer(-np.arange(bots), -np.arange(bots))).astype(np.float64)
    many = np.full((bots, bots), float(count))
    return Evidence(many * sign, many, many, many, many, many, count)


def test_later_bots_need_more_evidence_to_be_settled() -> None:
    """Found by how much evidence a pair needs: the chance of one that arrives later is smaller."""
    arrival = np.arange(1, 41)
    needed = [
        next(
            count for count in range(1, 200)
            if settled_by_arrival(evidence_of(count, 2), np.array([1, later])).any()
        )
        for later in (2, 10, 40)
    ]  # fmt: skip
    assert needed[0] < needed[1] < needed[2] < 60
    none = settled_by_arrival(evidence_of(needed[0], 40), arrival)
    assert none.sum() == 1
    assert LEVEL == 0.95


def test_a_late_arrival_needs_more_evidence_for_each_pair() -> None:
    found = evidence_of(20, 3)
    first = settled_by_arrival(found, np.array([1, 2, 3]))
    assert first.sum() == 3
    assert settled_by_arrival(found, np.array([1, 2, 900]))[:, 2].sum() == 0


def entries(seats: Ints, points: Floats, draws: list[int]) -> tuple[Ints, Ints, Floats, Ints]:
    """The blocks of an epoch as a record reads them."""
    places = seats.shape[1]
    block = np.repeat(np.arange(len(seats)), places)
    return block, seats.ravel(), points.ravel(), np.repeat(draws, places)


def record_of(points: Floats, tables: Ints, epochs: int) -> LadderRecord:
    """The same tables, drawn together, in so many epochs."""
    record = LadderRecord(int(tables.max()) + 1)
    for _ in range(epochs):
        record.add(*entries(tables, points, [0] * len(tables)))
    return record


def test_only_bots_of_the_same_draw_are_compared() -> None:
    seats = np.array([(0, 1, 2), (3, 4, 5), (0, 1, 3), (2, 4, 5)])
    points = np.random.default_rng(1).normal(size=seats.shape)
    record = LadderRecord(6)
    record.add(*entries(seats, points, [7, 7, 8, 9]))
    found = record.evidence()
    assert found.items[0].tolist() == [1, 2, 1, 2, 1, 1]
    assert found.items[3].tolist() == [2, 2, 1, 1, 1, 1]
    assert found.total[0, 4] == pytest.approx(points[0, 0] - points[1, 1])
    assert found.squares[0, 4] == pytest.approx((points[0, 0] - points[1, 1]) ** 2)
    assert found.total == pytest.approx(-found.total.T)


def test_opponents_are_taken_out_at_different_tables_only() -> None:
    """Bot 3 meets weak opponents only, so it has more points than bot 0, which is as good."""
    effects = np.array([0.5, 0.5, 0.5, 0.5, -1.0, -1.0])
    tables = np.array([(0, 1, 2), (3, 4, 5)])
    mixed = np.array([(0, 1, 4), (2, 3, 5)])
    record, random = LadderRecord(6), np.random.default_rng(1)
    raw = 0.0
    for epoch in range(400):
        drawn = mixed if epoch < 200 else tables
        if epoch == 200:
            before = record.evidence().total.copy()
        points = simulated(effects, normal)(random, drawn)
        record.add(*entries(drawn, points, [0, 0]))
        raw += (points[1, 0] - points[0, 0]) * (epoch >= 200)
    over = record.evidence().total - before
    assert raw / 200 > 1.2
    assert abs(over[3, 0]) / 200 < 0.4
    assert over[3, 4] / 200 == pytest.approx(2.25, abs=0.3)


def test_a_settled_pair_frees_its_chance_for_other_pairs() -> None:
    """Bot 2 needs less evidence against bot 1 as soon as its order with bot 0 is settled."""

    def settled(clear: float) -> bool:
        count = np.full((3, 3), 16.0)
        count[0, 2] = count[2, 0] = clear
        total = count * np.array([[0, 0, 1], [0, 0, 1], [-1, -1, 0]])
        found = Evidence(total, count, count, count, count, count, 0)
        return bool(settled_by_arrival(found, np.array([1, 2, 3]))[1, 2])

    assert [settled(1), settled(60)] == [False, True]


@pytest.mark.parametrize(("size", "window"), [(3.0, 20), (1.5, 80)])
def test_an_alarm_finds_a_bot_that_jumps_and_forgets_what_it_was(size: float, window: int) -> None:
    case = jump(spaced(9, 1.0))
    random = np.random.default_rng(1)
    record = LadderRecord(9)
    effects = np.zeros(9)
    for epoch in range(80):
        effects[4] = size * (epoch >= 50)
        seats = random.permutation(9).reshape(3, 3)
        seats.sort(axis=1)
        record.add(*entries(seats, simulated(effects, normal)(random, seats), [0] * 3))
    assert np.flatnonzero(record.changed).tolist() == [4]
    assert case.bots == 9
    assert (record.versions() == record.version[4]).sum() <= 30 + window


def test_bots_that_stay_as_they_are_ring_no_alarm() -> None:
    equal = np.zeros(9)
    cases = [
        replace(steady(equal, simulated(equal, noise)), playing=everybody)
        for noise in NOISES.values()
    ]
    assert seasons(cases, 10).alarms == 0


def test_a_change_in_the_first_blocks_neither_alarms_nor_settles() -> None:
    points = np.concatenate([np.full(9, 9.0), np.full(30, -1.0)])
    record = LadderRecord(3)
    for first in points:
        record.add(*entries(np.array([[0, 1, 2]]), np.array([[first, 0.0, 0.0]]), [0]))
    assert not record.changed.any()
    assert not record.settled().any()


def test_skipping_stronger_opponents_causes_no_false_order() -> None:
    assert seasons([replace(away(spaced(12, 2.0)), blocks=3_000)], 3).false == 0


def test_an_epoch_of_one_table_and_one_without_any_are_no_error() -> None:
    record = record_of(np.array([[2.0, 1.0, 0.0]]), np.array([[0, 1, 2]]), 40)
    nothing = np.zeros(0, np.int64)
    record.add(nothing, nothing, np.zeros(0), nothing)
    assert record.settled().sum() == 3
    assert not LadderRecord().settled().size
