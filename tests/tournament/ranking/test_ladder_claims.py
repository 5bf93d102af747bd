"""Small versions of `tools/simulation/ladders.py`, seeded, and what the proof rests on."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tools.simulation.ladders import Case, away, everybody, rows, season, seasons, steady
from tools.simulation.recall import by_ladder, by_round_robin, recall
from tools.simulation.simulated_cups import NOISES, normal, simulated, spaced
from tournament.ranking.arrays import Floats, Ints
from tournament.ranking.ladder import LadderRecord
from tournament.ranking.observations import Evidence
from tournament.ranking.ranks import settled_by_arrival


@pytest.mark.parametrize("cases", dict(rows()).values(), ids=dict(rows()))
def test_no_look_at_a_ladder_shows_a_false_order(cases: list[Case]) -> None:
    assert seasons([replace(case, blocks=600) for case in cases], 2, first=4).false == 0


def test_skipping_stronger_opponents_causes_no_false_order() -> None:
    assert seasons([replace(away(spaced(12, 4.0)), blocks=1_500)], 1).false == 0


def test_what_is_settled_grows_to_half_of_the_pairs_that_stay() -> None:
    effects = spaced(12, 2.0)
    case = steady(effects, simulated(effects, normal))
    looks = [settled for _, settled in season(case, 3)]
    assert looks[-1].sum() > 0.5 * 66
    assert all(after.sum() >= before.sum() - 3 for before, after in pairwise(looks))


def test_a_ladder_finds_the_top_sooner_than_even_tables() -> None:
    assert recall(by_ladder(200), 15) > recall(by_round_robin(200), 40) + 3


def evidence_of(count: int, bots: int) -> Evidence:
    """Every bot was better in each of so many blocks than those after it."""
    sign = np.sign(np.subtract.outer(-np.arange(bots), -np.arange(bots))).astype(np.float64)
    many = np.full((bots, bots), float(count))
    return Evidence(many * sign, many, many, many, many, many, count)


def test_later_bots_need_more_evidence_to_be_settled() -> None:

    def needed(later: int) -> int:
        arrival = np.array([1, later])
        settled = (settled_by_arrival(evidence_of(count, 2), arrival) for count in range(1, 60))
        return next(count for count, pairs in enumerate(settled, 1) if pairs.any())

    assert needed(2) < needed(10) < needed(40)
    assert settled_by_arrival(evidence_of(needed(2), 40), np.arange(1, 41)).sum() == 1
    assert settled_by_arrival(evidence_of(20, 3), np.array([1, 2, 3])).sum() == 3
    assert settled_by_arrival(evidence_of(20, 3), np.array([1, 2, 900]))[:, 2].sum() == 0


def add(record: LadderRecord, seats: Ints, points: Floats, draws: list[int] | int = 0) -> None:
    """Add the tables (B, p) of an epoch to a record. By default all are of one draw."""
    blocks, places = seats.shape
    draw = np.repeat(np.broadcast_to(draws, blocks), places)
    record.add(np.repeat(np.arange(blocks), places), seats.ravel(), points.ravel(), draw)


def test_only_bots_of_the_same_draw_are_compared() -> None:
    seats = np.array([(0, 1, 2), (3, 4, 5), (0, 1, 3), (2, 4, 5)])
    points = np.random.default_rng(1).normal(size=seats.shape)
    record = LadderRecord(6)
    add(record, seats, points, [7, 7, 8, 9])
    evidence = record.evidence()
    assert evidence.items[0].tolist() == [1, 2, 1, 2, 1, 1]
    assert evidence.items[3].tolist() == [2, 2, 1, 1, 1, 1]
    assert evidence.total[0, 4] == pytest.approx(points[0, 0] - points[1, 1])
    assert evidence.squares[0, 4] == pytest.approx((points[0, 0] - points[1, 1]) ** 2)
    assert evidence.total == pytest.approx(-evidence.total.T)


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
        add(record, drawn, points)
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
        evidence = Evidence(total, count, count, count, count, count, 0)
        return bool(settled_by_arrival(evidence, np.array([1, 2, 3]))[1, 2])

    assert [settled(1), settled(60)] == [False, True]


@pytest.mark.parametrize(("size", "window"), [(3.0, 20), (1.5, 80)])
def test_an_alarm_finds_a_bot_that_jumps_and_drops_its_past(size: float, window: int) -> None:
    random = np.random.default_rng(1)
    record = LadderRecord(9)
    effects = np.zeros(9)
    for epoch in range(80):
        effects[4] = size * (epoch >= 50)
        seats = random.permutation(9).reshape(3, 3)
        seats.sort(axis=1)
        add(record, seats, simulated(effects, normal)(random, seats))
    assert np.flatnonzero(record.changed).tolist() == [4]
    assert (record.versions() == record.version[4]).sum() <= 30 + window


def test_bots_that_stay_as_they_are_ring_no_alarm() -> None:
    equal = np.zeros(9)
    plays = [simulated(equal, noise) for noise in NOISES.values()]
    assert seasons([steady(equal, play, everybody, blocks=1_200) for play in plays], 5).alarms == 0


def test_a_change_in_the_first_blocks_neither_alarms_nor_settles() -> None:
    points = np.concatenate([np.full(9, 9.0), np.full(30, -1.0)])
    record = LadderRecord(3)
    for first in points:
        add(record, np.array([[0, 1, 2]]), np.array([[first, 0.0, 0.0]]))
    assert not record.changed.any()
    assert not record.settled().any()


def test_an_epoch_of_one_table_and_one_without_any_are_no_error() -> None:
    record = LadderRecord(3)
    for _ in range(40):
        add(record, np.array([[0, 1, 2]]), np.array([[2.0, 1.0, 0.0]]))
    add(record, np.zeros((0, 3), np.int64), np.zeros((0, 3)))
    assert record.settled().sum() == 3
    assert not LadderRecord().settled().size
