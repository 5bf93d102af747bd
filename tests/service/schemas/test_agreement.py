"""msgspec reads what matches the contract, with the same values as marshmallow."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marshmallow import ValidationError

import games
from service import json_codec
from service.schemas import requests
from service.schemas.fields import MAX_SAFE_INTEGER, MAX_SCORE
from tests.support.service.contract import matches, operation, states

POSITIONS = [state for name in games.GAMES for state in states(name)[::6]]
VIEWS = [games.get(state["game"]).state(state).view(1).to_dict() for state in POSITIONS]
SEALED = {"sealed": "token", "key": "key"}
EITHER = [*({"state": state} for state in POSITIONS), *({"view": view} for view in VIEWS)]
STARTS = [
    {"game": game.name, "players": game.max_players, "options": options}
    for game in games.GAMES.values()
    for options in ({}, {option.name: option.default for option in game.options})
]
VALID: dict[str, list[Any]] = {
    "start": [{**body, "seed": "ä"} for body in STARTS],
    "moves": [{**body, "details": True} for body in EITHER],
    "describe": [{**body, "list_moves": False} for body in EITHER],
    "validate": [{**body, "move": "play:3c"} for body in EITHER],
    "advance": [
        {"state": state, "moves": ["bid:1", "pass"], "list_moves": True} for state in POSITIONS
    ],
    "view": [{"state": state, "seat": 2} for state in POSITIONS],
    "sealed/start": [{**body, "key_hashes": ["0f" * 32] * 3} for body in STARTS],
    "sealed/view": [SEALED],
    "sealed/moves": [{**SEALED, "details": True}],
    "sealed/describe": [{**SEALED, "list_moves": False}],
    "sealed/validate": [{**SEALED, "move": "play:3c"}],
    "sealed/advance": [{**SEALED, "moves": ["pass"]}],
}
VALIDATORS = dict(zip(VALID, requests.VALIDATORS, strict=True))
bounds = [bound + offset for bound in (2**53, 2**63) for offset in (-1, 0, 1)]
numbers = st.sampled_from(
    [-1, 0, 1, 3, 5, 6, 99, 1000, 1001, MAX_SCORE, MAX_SCORE + 1, 0.5, 3.0, 1e30, 2.0**53]
    + [sign * bound for sign in (-1, 1) for bound in bounds]
)
texts = st.sampled_from(
    ["", "x", "3c", "Rj", "??", "1c", "over", "dasan", "whist", "\x00", "\ud800", "a\udfff"]
    + [letter * times for letter in "x🂡" for times in (32, 33, 128, 129)]
)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)


def schema_of(name: str) -> str:
    body = operation("post", f"/v1/{name}")["requestBody"]
    return str(body["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1])


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a body: the list or object that holds it, and its key."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


@st.composite
def mutated(draw: st.DrawFn, valid: list[Any]) -> Any:
    body = copy.deepcopy(draw(st.sampled_from(valid)))
    for _ in range(draw(st.integers(0, 3))):
        spots = list(places(body))
        if not spots:
            break
        holder, key = draw(st.sampled_from(spots))
        change = draw(st.sampled_from(["replace", "delete", "add", "point", "swap"]))
        if change == "delete":
            del holder[key]
        elif change == "add" and isinstance(holder, dict):
            holder[draw(texts)] = draw(values)
        elif change == "add":
            holder.insert(key, draw(values))
        elif change == "point" and type(holder[key]) is int:
            holder[key] = float(holder[key])
        elif change == "swap":
            other, name = draw(st.sampled_from(spots))
            if name in other if isinstance(other, dict) else name < len(other):
                holder[key] = copy.deepcopy(other[name])
        else:
            holder[key] = draw(values)
    return body


def needs_conversion(value: Any) -> bool:
    """Whether some value inside is one that only marshmallow accepts.

    A whole number with a point, a score that not every parser reads exactly, a lone surrogate.
    """
    if isinstance(value, dict | list):
        items = value.values() if isinstance(value, dict) else value
        return any(map(needs_conversion, items))
    if isinstance(value, str):
        return not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value)
    return type(value) is float or (type(value) is int and abs(value) > MAX_SAFE_INTEGER)


def written(body: Any) -> str:
    """A body without escapes that it does not need: they could hide a field of the same name."""
    return json.dumps(body, ensure_ascii=False)


@pytest.mark.parametrize("name", VALID)
def test_msgspec_accepts_what_needs_no_conversion(name: str) -> None:
    for body in VALID[name]:
        assert VALIDATORS[name].decode(written(body).encode()) == body


@pytest.mark.parametrize("name", VALID)
@settings(deadline=None)
@given(data=st.data())
def test_msgspec_and_marshmallow_agree(name: str, data: st.DataObject) -> None:
    validator, body = VALIDATORS[name], data.draw(mutated(VALID[name]))
    fast = validator.decode(written(body).encode("utf-8", "surrogatepass"))
    try:
        loaded = validator.load(json_codec.decode(json.dumps(body).encode()))
    except ValidationError:
        assert fast is None
        return
    if fast is None:
        assert needs_conversion(body) or not matches(schema_of(name), body)
    else:
        assert json.dumps(loaded, sort_keys=True) == json.dumps(fast, sort_keys=True)
