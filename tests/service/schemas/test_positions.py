"""Positions with one value changed: schemas, rules and contract agree on them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator
from marshmallow import ValidationError

import games
from games import Game, InvalidState, State
from service.json_codec import says_nothing_else
from service.schemas.fields import ObjectSchema
from service.schemas.positions import STATES, VIEWS
from tests.service.support import contract

Path = tuple[str | int, ...]
WRONG: list[Any] = [None, True, 1.5, -1, 4, 99, "x", "\ud800", [], {}, [[]], [None], [{}]]


def test_every_game_has_its_schemas() -> None:
    assert list(STATES) == list(VIEWS) == list(games.GAMES)


def positions(name: str) -> list[State]:
    """The last state of each phase in two deals, and the end."""
    state = games.get(name).start(None, "changed", {"deals": 2})
    found = {}
    while state.turn is not None:
        found[state.phase] = state
        moves = state.moves()
        state = state.advance(moves[len(moves) // 2])
    return [*found.values(), state]


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """The path of every value in a position; of a list only the first item."""
    items: list[Any] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value[:1]))
    for key, item in items:
        yield (*path, key)
        yield from paths(item, (*path, key))


def changed(position: Any, path: Path) -> Iterator[Any]:
    """The position with other values at this path; the same object each time."""
    position = holder = copy.deepcopy(position)
    for key in path[:-1]:
        holder = holder[key]
    value = holder[path[-1]]
    longer = [value * 2, value * 9, value[1:]] if isinstance(value, list) and value else []
    for other in WRONG + longer:
        holder[path[-1]] = copy.deepcopy(other)
        yield position


@cache
def field_validator(component: str, field: str) -> Draft202012Validator:
    """Whether the value of one field matches the contract; much faster than a whole position."""
    reference = f"#/components/schemas/{component}/properties/{field}"
    return Draft202012Validator({"$ref": reference, "components": contract()["components"]})


@cache
def decoder(schema: ObjectSchema) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(schema.value_type())


def is_read(schema: ObjectSchema, value: Any) -> bool:
    """Whether msgspec reads a value, and nothing else than it."""
    text = json.dumps(value).encode()
    try:
        return says_nothing_else(text, decoder(schema).decode(text))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False


def load(schema: ObjectSchema, value: Any) -> Any:
    """The value as loaded, or None if it is refused; the fast path must agree."""
    try:
        loaded = schema.load(value)
    except ValidationError:
        assert not is_read(schema, value)
        return None
    assert loaded == value
    return loaded


def view_of_state(game: Game, state: Any) -> Any:
    return game.state(state).view(0).to_dict()


def view_again(game: Game, view: Any) -> Any:
    return game.view(view).to_dict()


KINDS: dict[str, tuple[Mapping[str, ObjectSchema], Callable[[Game, Any], Any]]] = {
    "State": (STATES, view_of_state),
    "View": (VIEWS, view_again),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", games.GAMES)
def test_a_changed_position_is_refused_or_every_answer_matches_the_contract(
    name: str, kind: str
) -> None:
    game = games.get(name)
    component = name.capitalize() + kind
    schema, view_of = KINDS[kind][0][name], KINDS[kind][1]
    accepted = 0
    for position in positions(name):
        wire = (position if kind == "State" else position.view(position.turn or 0)).to_dict()
        wire["history"] = wire["history"][:2]  # its length proves nothing, and takes long to load
        assert is_read(schema, wire)
        for path in paths(wire):
            for value in changed(wire, path):
                matches = field_validator(component, str(path[0])).is_valid(value[path[0]])
                loaded = load(schema, value)
                if loaded is None:
                    assert not matches or "\\ud800" in ascii(value[path[0]]), (path, value)
                    continue
                try:
                    view = view_of(game, loaded)
                except InvalidState:
                    continue
                accepted += 1
                # Only the shape of a history is checked: any seat is accepted there.
                assert matches or path[0] == "history", (path, value)
                for field in view:
                    validator = field_validator(f"{name.capitalize()}View", field)
                    assert validator.is_valid(view[field]), (path, value, field)
                game.view(view).moves()
    assert accepted > 10
