"""No input is answered with 500, nor with anything that the contract does not list."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import games
from service import create_app
from tests.service.support import Service, later, states

PATHS = [f"/v1/{name}" for name in ("start", "moves", "validate", "advance", "view")]
SERVICE = Service(create_app({}).test_client())

names = st.sampled_from(
    ["game", "state", "view", "moves", "move", "seat", "players", "options", "hands", "seed", "x"]
) | st.text(max_size=4)
words = st.sampled_from(
    ["doudizhu", "dasan", "zhengfen", "ninefivetwo", "pass", "bid:1", "play:3c", "??", "Rj", "over"]
)
numbers = st.integers() | st.integers(-3, 9) | st.floats()
anything = st.recursive(
    st.none() | st.booleans() | numbers | words | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=5),
    max_leaves=12,
)
samples = [later(name) for name in games.GAMES]
samples += [state for name in games.GAMES for state in states(name, 21)[::7]]
cards = st.sampled_from(["3c", "3d", "4h", "Th", "2s", "Bj", "Rj", "5c", "Kd", "As", "2c", "3h"])
moves = st.one_of(
    st.text(max_size=12),
    st.from_regex(
        r"(play|give|discard|call):(([2-9TJQKA][cdhs]|Bj|Rj)){1,12}(=flush|=fullhouse)?",
        fullmatch=True,
    ),
    st.sampled_from(["pass", "bid:1", "bid:3", "trump:h"]),
)


patient = settings(deadline=None, suppress_health_check=list(HealthCheck))


def send(path: str, body: bytes) -> Any:
    """An answer, held against the contract; 500 is no answer."""
    answer = SERVICE.send(path, body)
    assert answer.get("status") != 500, answer
    return answer


@patient
@given(st.sampled_from(PATHS), st.binary(max_size=200))
def test_any_bytes(path: str, body: bytes) -> None:
    send(path, body)


@patient
@given(st.sampled_from(PATHS), anything)
def test_any_json(path: str, body: Any) -> None:
    send(path, json.dumps(body).encode("utf-8", "surrogatepass"))


@patient
@given(st.sampled_from(PATHS), st.dictionaries(names, anything, max_size=5))
def test_any_object(path: str, body: Any) -> None:
    send(path, json.dumps(body).encode())


@st.composite
def spoilt(draw: st.DrawFn) -> Any:
    """A right state in which some places hold something else, mostly of the same type."""
    state = json.loads(json.dumps(draw(st.sampled_from(samples))))
    for _ in range(draw(st.integers(1, 3))):
        holder: Any = state
        key: Any = draw(st.sampled_from(sorted(state)))
        while isinstance(holder[key], dict | list) and holder[key] and draw(st.booleans()):
            holder = holder[key]
            keys = sorted(holder) if isinstance(holder, dict) else list(range(len(holder)))
            key = draw(st.sampled_from(keys))
        holder[key] = draw(like(holder[key]))
    return state


def like(value: Any) -> st.SearchStrategy[Any]:
    """Values of the same JSON type, and now and then any."""
    same: st.SearchStrategy[Any]
    if isinstance(value, bool):
        same = st.booleans()
    elif isinstance(value, int):
        same = st.none() | st.integers(-2, 12) | st.integers()
    elif isinstance(value, str):
        same = cards | words | moves
    elif isinstance(value, list) and all(isinstance(card, str) for card in value):
        same = st.lists(cards, max_size=20)
    elif isinstance(value, list):
        same = st.lists(st.sampled_from(value), max_size=4) if value else st.just([])
    else:
        same = st.none()
    return same | anything


@patient
@given(spoilt(), moves)
def test_a_spoilt_state(state: Any, move: str) -> None:
    body = {"state": state}
    listed = send("/v1/moves", json.dumps(body).encode())
    judged = send("/v1/validate", json.dumps({**body, "move": move}).encode())
    after = send("/v1/advance", json.dumps({**body, "moves": [move]}).encode())
    viewed = send("/v1/view", json.dumps({**body, "seat": 0}).encode())
    if "moves" not in listed:
        return
    # a position that passed both gates: every answer about it makes sense
    assert judged["legal"] or judged["reason"]
    assert ("state" in after) == judged["legal"] or after["code"] == "invalid-state"
    seen = send("/v1/moves", json.dumps({"view": viewed["view"]}).encode())
    assert seen["moves"] == (listed["moves"] if listed["seat"] == 0 else [])
    for legal in listed["moves"][:3]:
        next_state = send("/v1/advance", json.dumps({**body, "moves": [legal]}).encode())["state"]
        assert "moves" in send("/v1/moves", json.dumps({"state": next_state}).encode())


@pytest.mark.parametrize("path", ["/v1/games/{}", "/docs/rules/{}.md", "/{}"])
@patient
@given(name=st.text(max_size=20))
def test_any_path(path: str, name: str) -> None:
    response = SERVICE.client.get(path.format(name.replace("/", "%2F").replace("?", "%3F")))
    assert response.status_code in (200, 404)
