"""Examples for the contract: real games, asked of the service itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flask.testing import FlaskClient

import games
from service.app import DETAILS, build
from service.metrics import Silent
from service.problems import Problem
from service.settings import MEBIBYTE, Settings

SEED = "example"
PLIES = {"doudizhu": 9, "dasan": 8, "zhengfen": 7, "ninefivetwo": 9}
"""How far into a game its example lies."""


@dataclass(frozen=True, slots=True)
class Example:
    """A request and what the service answers to it."""

    path: str
    name: str
    summary: str
    request: dict[str, Any] | None
    status: int
    answer: dict[str, Any]


def mid_game(name: str) -> games.State:
    """A state some moves into a game; the moves are those in the middle of the lists."""
    state = games.get(name).start(None, SEED, {})
    for _ in range(PLIES.get(name, 6)):
        moves = state.moves()
        state = state.advance(moves[len(moves) // 2])
    return state


def _client() -> FlaskClient:
    # several workers share their figures, and these requests are nobody's
    return build(Settings(max_body=MEBIBYTE), Silent()).test_client()


def collect() -> list[Example]:
    """All examples, made by asking."""
    client = _client()
    found = [
        _ask(client, "/v1/games", "games", "All games", None),
        _ask(client, "/healthz", "alive", "The service is alive", None),
    ]
    for name, game in games.GAMES.items():
        title = game.title
        found.append(_ask(client, f"/v1/games/{name}", name, title, None))
        found.append(
            _ask(client, "/v1/start", name, f"A game of {title}", {"game": name, "seed": SEED})
        )
        found += _of_position(client, name, title)
    return found + _refused(client)


def _of_position(client: FlaskClient, name: str, title: str) -> list[Example]:
    position = mid_game(name)
    state, moves = position.to_dict(), position.moves().texts()
    seat = position.turn or 0
    view = position.view(seat).to_dict()
    move = moves[len(moves) // 2]
    asked: list[tuple[str, str, str, dict[str, Any]]] = [
        ("/v1/moves", name, f"A state of {title}", {"state": state}),
        ("/v1/moves", f"{name}-view", f"A view of {title}", {"view": view}),
        ("/v1/validate", name, f"A legal move of {title}", {"view": view, "move": move}),
        ("/v1/validate", f"{name}-illegal", "No legal move", {"view": view, "move": "bid:3"}),
        ("/v1/advance", name, f"A move of {title}", {"state": state, "moves": [move]}),
        ("/v1/view", name, f"A view of {title}", {"state": state, "seat": seat}),
    ]
    return [_ask(client, *one) for one in asked]


def _refused(client: FlaskClient) -> list[Example]:
    state = mid_game("doudizhu").to_dict()
    nonsense = {**state, "bid": 7}
    return [
        _ask(client, "/v1/games/whist", "not-found", "No such game", None),
        _ask(client, "/v1/view", "invalid-request", "No seat", {"state": state}),
        _ask(client, "/v1/moves", "invalid-state", "No such bid", {"state": nonsense}),
        _ask(
            client,
            "/v1/advance",
            "illegal-move",
            "The second move is illegal",
            {"state": state, "moves": ["pass", "pass", "bid:1"]},
        ),
    ]


def problem(code: str) -> dict[str, Any]:
    """A problem of this kind, as the service answers it."""
    client = _client()
    wrong = [one for one in _refused(client) if one.answer["code"] == code]
    if wrong:
        return wrong[0].answer
    if code == "internal":  # nothing that could be asked brings it about
        return Problem(code, DETAILS[code]).to_dict()
    data, media_type = _BROKEN.get(code, (b"{", "application/json"))
    got = client.open(
        "/v1/start",
        method="PUT" if code == "method-not-allowed" else "POST",
        data=data,
        content_type=media_type,
    )
    answer: dict[str, Any] = got.get_json()
    return answer


_BROKEN = {
    "too-large": (b" " * (MEBIBYTE + 1), "application/json"),
    "unsupported-media-type": (b"{}", "text/plain"),
}

FIGURES = """\
# HELP stich_http_requests_total Requests answered.
# TYPE stich_http_requests_total counter
stich_http_requests_total{method="GET",route="/healthz",status="200"} 1.0
"""
"""Some of the figures of a service that was asked once whether it is alive."""


def _ask(
    client: FlaskClient, path: str, name: str, summary: str, body: dict[str, Any] | None
) -> Example:
    got = client.get(path) if body is None else client.post(path, json=body)
    return Example(path, name, summary, body, got.status_code, got.get_json())
