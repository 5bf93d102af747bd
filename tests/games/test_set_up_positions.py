"""Posted positions with random changes are refused, or are valid and remain valid in play."""

import copy
import json
import random
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
from marshmallow import ValidationError

import games
from games import Game, InvalidState, State
from service.schemas.requests import state_field, view_field
from tests.support.games.random_games import IDS, TABLES, random_game, some_move

Wire = dict[str, Any]
OTHERS: list[Any] = [None, True, [], *range(-1, 4), 16, 100, "4c", "Bj", "??", "c", "pass"]
OTHERS += ["over", "lunch", "play:3c", "play:4c4d"]
LOAD_STATE = state_field("").load
LOAD_VIEW = view_field("").load


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Each list or object in a position, with a key; not of what only the schema checks."""
    items: Any = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        if key not in ("game", "seed", "history"):
            yield data, key
            if isinstance(value, dict | list):
                yield from places(value)


def change(data: Wire, rng: random.Random) -> None:
    """Drop or double one value, or put one of about the same kind in its place."""
    found = list(places(data))
    parent, key = rng.choice(found)
    kind = rng.random() if isinstance(parent, list) else 1
    if kind < 0.3:
        del parent[key]
    elif kind < 0.4:
        parent.append(copy.deepcopy(parent[key]))
    else:
        values = [where[at] for where, at in found] + OTHERS
        same = [value for value in values if type(value) is type(parent[key])]
        parent[key] = copy.deepcopy(rng.choice([*same, None]))


def leave_out(data: Wire, rng: random.Random) -> None:
    """Remove the same number of cards from each hand; in 9-5-2 add as many tricks."""
    number = rng.randrange(8)
    for hand in data.get("hands", ()):
        for _ in range(min(number, len(hand) - 1)):
            hand.pop(rng.randrange(len(hand)))
    if "tricks" in data:
        data["tricks"][0] += number


@pytest.mark.parametrize(("name", "players"), TABLES, ids=IDS)
def test_two_wire_forms_of_a_position_share_no_list(name: str, players: int) -> None:
    *_, state = random_game(name, players, 0)
    one, other = state.to_dict(), state.to_dict()
    assert not {id(part) for part, _ in places(one)} & {id(part) for part, _ in places(other)}


@pytest.mark.parametrize(("name", "players"), TABLES, ids=IDS)
def test_a_position_is_refused_or_stays_valid(name: str, players: int) -> None:
    rng = random.Random(f"{name} {players}")
    game = games.get(name)
    verdicts = Counter[str]()
    for number in range(15):
        state = rng.choice([*islice(random_game(name, players, number), 150)])
        for _ in range(4):
            seat = rng.randrange(players) if rng.random() < 0.3 else None
            data = json.loads(json.dumps((state if seat is None else state.view(seat)).to_dict()))
            if rng.random() < 0.4:
                leave_out(data, rng)
            for _ in range(rng.randrange(3)):
                change(data, rng)
            verdicts[post(game, data, rng)] += 1
    assert verdicts["no sentence"] == 0
    assert verdicts["refused"] > 3
    assert verdicts["valid"] > 3


def post(game: Game, data: Wire, rng: random.Random) -> str:
    """The verdict on a posted position, from which play goes on if it is valid."""
    as_view = "seat" in data
    try:
        data = (LOAD_VIEW if as_view else LOAD_STATE)(data)
        position = game.view(data) if as_view else game.state(data)
    except ValidationError:
        return "malformed"
    except InvalidState as error:
        return "refused" if all(text.endswith(".") for text in error.problems) else "no sentence"
    if not as_view:
        play_on(game, game.state(data), rng)
    elif position.turn == data["seat"]:
        assert position.moves()
    return "valid"


def play_on(game: Game, state: State, rng: random.Random) -> None:
    for step in range(40):
        if step % 5 == 0:
            wire, view = state.to_dict(), state.view(step % state.players).to_dict()
            assert game.state(LOAD_STATE(wire)).to_dict() == wire
            assert game.view(LOAD_VIEW(view)).to_dict() == view
        if state.turn is None:
            break
        state = state.advance(some_move(state, rng))
