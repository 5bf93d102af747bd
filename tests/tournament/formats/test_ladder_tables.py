"""The tables of an epoch of a ladder: who sits where, and from what."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tournament.formats.ladder import BLOCKS, NEW, KnownBots, draw_tables


def names(bots: int) -> list[str]:
    return [f"bot{number:03d}" for number in range(bots)]


def seasoned(
    bots: list[str], players: int = 3, blocks: int = 60, alike: tuple[int, int] = (2, 3)
) -> KnownBots:
    """A ladder in which earlier names are much better, but for two that are alike."""
    known, dice = KnownBots(), random.Random(1)
    strength = {bot: -10.0 * place for place, bot in enumerate(bots)}
    strength[bots[alike[1]]] = strength[bots[alike[0]]]
    for number in range(blocks):
        order = dice.sample(bots, len(bots) // players * players)
        tables = zip(*[iter(order)] * players, strict=True)
        known.add(
            (f"pass {number}", {bot: strength[bot] + dice.gauss() for bot in table})
            for table in tables
        )
    return known


@settings(max_examples=30)
@given(st.integers(0, 70), st.integers(2, 6), st.integers(0, 3))
def test_an_epoch_has_full_tables_and_seats_nobody_twice_a_pass(
    bots: int, players: int, new: int
) -> None:
    every = names(bots)
    known = KnownBots() if bots < 2 * players + new else seasoned(every[new:], players, 12)
    tables = draw_tables("seed", 1, every, players, known)
    half = max(min(BLOCKS // 2, bots), bots // players)
    assert len(tables) == (0 if bots < players else 2 * half)
    assert len(set(tables)) == len(tables)
    assert all(len(set(table)) == players for _, table in tables)
    seats = Counter((stage, bot) for stage, table in tables for bot in table)
    assert max(seats.values(), default=1) == 1
    assert sum("even" in stage for stage, _ in tables) == len(tables) // 2


def test_a_draw_depends_on_seed_epoch_and_results_not_on_order() -> None:
    every = names(12)
    known, turned = seasoned(every), seasoned(every[::-1])
    first = draw_tables("seed", 4, every, 3, known)
    assert first == draw_tables("seed", 4, reversed(every), 3, known)
    assert first != draw_tables("other", 4, every, 3, known)
    assert first != draw_tables("seed", 5, every, 3, known)
    other_results = draw_tables("seed", 4, every, 3, turned)
    assert first != other_results
    assert first[::2] == other_results[::2]  # the even tables


def test_a_draw_never_changes() -> None:
    """Ladders are resumed and verified by it."""
    tables = draw_tables("seed", 2, names(7), 3, seasoned(names(7)))
    assert tables[:4] == [
        ("epoch 2, even 1", ("bot000", "bot001", "bot003")),
        ("epoch 2, top 1", ("bot000", "bot002", "bot003")),
        ("epoch 2, even 1", ("bot002", "bot004", "bot005")),
        ("epoch 2, top 2", ("bot000", "bot002", "bot003")),
    ]


@pytest.mark.parametrize(("players", "alike"), [(3, (2, 3)), (3, (0, 1)), (4, (2, 3)), (2, (1, 2))])
def test_the_bots_by_the_place_most_in_doubt_meet(players: int, alike: tuple[int, int]) -> None:
    every = names(20)
    known = seasoned(every, players, alike=alike)
    tables = draw_tables("seed", 9, every, players, known)
    close = [{every.index(bot) for bot in table} for stage, table in tables if "top" in stage]
    assert max(set().union(*close)) <= 6
    assert sum(set(alike) <= table for table in close) >= len(close) / 3


def test_a_settled_pair_is_left_to_the_even_tables() -> None:
    every = names(9)
    known = seasoned(every, blocks=400, alike=(1, 2))
    tables = draw_tables("seed", 9, every, 3, known)
    close = [table for stage, table in tables if "top" in stage]
    assert all({"bot001", "bot002"} <= {*table} for table in close)


def test_newcomers_are_in_every_pass_until_they_have_ten_blocks() -> None:
    new, *others = names(30)
    tables = draw_tables("seed", 3, [new, *others], 3, seasoned(others))
    played = Counter(bot for stage, table in tables if "even" in stage for bot in table)
    assert played[new] >= NEW
    assert max(played[bot] for bot in others) < NEW


def test_even_passes_seat_everybody_alike() -> None:
    every = names(30)
    known = seasoned(every)
    played: Counter[str] = Counter()
    for epoch in range(1, 9):
        tables = draw_tables("seed", epoch, every, 3, known)
        played.update(bot for stage, table in tables if "even" in stage for bot in table)
    assert set(played.values()) == {16}


def test_blocks_without_any_difference_are_no_error() -> None:
    known = KnownBots()
    known.add([("pass", dict.fromkeys(names(3), 0.0))])
    assert len(draw_tables("seed", 2, names(3), 3, known)) == 6
