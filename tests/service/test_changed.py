"""Positions with one place changed: refused, or every answer about them keeps the contract."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

import games
from tests.service.support import Service

UNCHANGED = {"history", "hands", "options", "game"}
"""Places that other tests change."""


def positions(game: str) -> list[Any]:
    """One state of each phase of a deal, the end among them."""
    options = {"deals": 2}
    state = games.get(game).start(None, "changed", options)
    found = {}
    while state.turn is not None:
        found[state.phase, len(state.results)] = state.to_dict()
        moves = state.moves()
        state = state.advance(moves[len(moves) // 2])
    return [*found.values(), state.to_dict()]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all numbers, nulls and lists."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if path or key not in UNCHANGED:
                yield from places(inner, (*path, key))
    elif isinstance(value, list):
        yield path
        for index, inner in enumerate(value[:2]):
            yield from places(inner, (*path, index))
    elif not isinstance(value, str):
        yield path


def others(value: Any) -> list[Any]:
    """What stands there instead."""
    if isinstance(value, list):
        return [value * 2, value * 9, value[1:]] if value else []
    return [-1, 4, 99, None]


def changed(state: Any, path: tuple[Any, ...]) -> Iterator[Any]:
    """The state with another value in one place."""
    value = state
    for key in path:
        value = value[key]
    for other in others(value):
        copied = holder = copy.deepcopy(state)
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = other
        yield copied


@pytest.mark.parametrize("game", games.GAMES)
def test_answers_about_changed_positions_keep_the_contract(service: Service, game: str) -> None:
    for state in positions(game):
        for path in places(state):
            for posted in changed(state, path):
                seen = service.post("/v1/view", {"state": posted, "seat": 0})  # held against it
                if "view" in seen:
                    answer = service.post("/v1/moves", {"view": seen["view"]})
                    assert "moves" in answer, (path, posted, answer)


def exchange(**changes: Any) -> Any:
    """9-5-2 before the trump is named; what a pairing has given lies in hands again."""
    state = games.get("ninefivetwo").start(3, "x", {}).to_dict()
    return {**state, **changes}


PAIRING = {"giver": 0, "debtor": 1, "given": [], "returned": []}


@pytest.mark.parametrize(
    "exchanged",
    [[PAIRING] * 3, [{**PAIRING, "given": [rank + suit for rank in "23456" for suit in "cdhs"]}]],
    ids=["three pairings", "twenty cards"],
)
def test_what_no_clause_bounds_goes_back(service: Service, exchanged: Any) -> None:
    seen = service.post("/v1/view", {"state": exchange(exchanged=exchanged), "seat": 0})
    assert seen["view"]["exchanged"] == exchanged


def test_results_after_the_end_go_back_however_many(service: Service) -> None:
    state = positions("doudizhu")[-1]
    state["results"] *= 501
    assert len(service.post("/v1/view", {"state": state, "seat": 0})["view"]["results"]) == 1002
