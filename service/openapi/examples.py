"""Examples for the contract: requests from real games, with the service's own responses."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from flask.testing import FlaskClient

import games
from service.app import DETAILS, create_app
from service.problems import Problem
from service.sealed import Sealer
from service.settings import MEBIBYTE

SEED = "example"
SEAL_KEY = bytes(32)
TOKEN = "2026.nL8uF0qW3xTtZb5yKcVhRmEoJdAiSgPf"
"""What the examples show for every token; a real one has thousands of characters."""
KEYS = ("k1OqVbXw7sTn", "pZ4rYc0mHdLe", "uJ9fGiQa2vBt")
"""The keys in the examples."""
REQUEST_ID = "3f6c1d2e9b8a7c45"
Request = tuple[str, str, str, dict[str, Any] | None]
"""The path, name, summary and body of an example."""
PLIES = {"doudizhu": 9, "dasan": 8, "zhengfen": 7, "ninefivetwo": 9}
"""How many moves into the game each example is."""


@dataclass(frozen=True, slots=True)
class Example:
    """A request and the response of the service."""

    path: str
    name: str
    summary: str
    request: dict[str, Any] | None
    status: int
    response: dict[str, Any]


def mid_game(name: str) -> games.State:
    """A state some moves into a game; each move is the one in the middle of the list."""
    state = games.get(name).start(None, SEED, {})
    for _ in range(PLIES.get(name, 6)):
        moves = state.moves()
        state = state.advance(moves[len(moves) // 2])
    return state


def _client(*, sealing: bool = True) -> FlaskClient:
    seal_keys = f"2026:{b64encode(SEAL_KEY).decode()}" if sealing else ""
    settings = {"max_body": MEBIBYTE, "cors_origins": "*", "seal_keys": seal_keys}
    client = create_app(settings).test_client()
    client.environ_base["HTTP_X_REQUEST_ID"] = REQUEST_ID
    return client


def collect_examples() -> list[Example]:
    """Send every example request to the service."""
    client = _client()
    requests: list[Request] = [
        ("/v1/games", "games", "All games", None),
        ("/healthz", "alive", "The service is up", None),
        ("/readyz", "ready", "The service is ready", None),
    ]
    for name, game in games.GAMES.items():
        requests += _of_game(name, game.title)
    requests += _sealed()
    return [_send(client, *request) for request in requests] + _problems(client)


def _of_game(name: str, title: str) -> list[Request]:
    position = mid_game(name)
    state, moves = position.to_dict(), position.moves().texts()
    seat = position.turn or 0
    view = position.view(seat).to_dict()
    move = moves[len(moves) // 2]
    illegal = {"view": view, "move": "bid:3"}
    return [
        ("/v1/games/{game}", name, title, None),
        ("/v1/start", name, title, {"game": name, "seed": SEED}),
        ("/v1/moves", name, f"{title}, a state", {"state": state}),
        ("/v1/moves", f"{name}-view", f"{title}, a view of seat {seat}", {"view": view}),
        ("/v1/validate", name, f"{title}, {move} is legal", {"view": view, "move": move}),
        ("/v1/validate", f"{name}-illegal", f"{title}, bid:3 is illegal", illegal),
        ("/v1/advance", name, f"{title}, {move}", {"state": state, "moves": [move]}),
        ("/v1/view", name, f"{title}, seat {seat}", {"state": state, "seat": seat}),
    ]


def _sealed() -> list[Request]:
    position = mid_game("doudizhu")
    hashes = [sha256(key.encode()).hexdigest() for key in KEYS]
    sealed = Sealer({"2026": SEAL_KEY}).start(position, hashes)["sealed"]
    seat, move = position.turn or 0, position.moves()[-1].text
    token = {"sealed": sealed, "key": KEYS[seat]}
    start = {"game": "doudizhu", "seal": True, "key_hashes": hashes}
    return [
        ("/v1/start", "sealed", "A sealed game, with keys of the players", start),
        ("/v1/moves", "sealed", "A sealed state", token),
        ("/v1/validate", "sealed", "A move in a sealed state", {**token, "move": move}),
        ("/v1/advance", "sealed", "A sealed state and a move", {**token, "moves": [move]}),
        ("/v1/view", "sealed", "A sealed state, for a seat", token),
        ("/v1/view", "sealed-public", "A sealed state, for everybody", {"sealed": sealed}),
    ]


def _problems(client: FlaskClient) -> list[Example]:
    state = mid_game("doudizhu").to_dict()
    moves = {"state": state, "moves": ["pass", "pass", "bid:1"]}
    invalid = {"state": {**state, "bid": 7}}
    return [
        _send(client, "/v1/games/{game}", "whist", "Unknown game", None),
        _send(client, "/v1/view", "invalid-request", "Missing seat", {"state": state}),
        _send(client, "/v1/view", "invalid-token", "Cut off", {"sealed": TOKEN}),
        _send(_client(sealing=False), "/v1/view", "no-keys", "No keys", {"sealed": TOKEN}),
        _send(client, "/v1/moves", "invalid-state", "Invalid bid", invalid),
        _send(client, "/v1/advance", "illegal-move", "The second move is illegal", moves),
    ]


def problem(code: str) -> dict[str, Any]:
    """A problem with this code, as the service returns it."""
    if code in ("internal", "timeout", "busy", "unavailable"):  # no single request causes them
        detail = DETAILS.get(code, "The service does not answer; try again later.")
        return Problem(code, detail, request_id=REQUEST_ID).to_dict()
    client = _client()
    found = [example.response for example in _problems(client)]
    found += [client.open("/v1/start", **request).get_json() for request in _MALFORMED]
    return next(response for response in found if response["code"] == code)


_MALFORMED: Final[list[dict[str, Any]]] = [
    {"method": "PUT"},
    {"method": "POST", "data": b"{", "content_type": "application/json"},
    {"method": "POST", "data": b"{}", "content_type": "text/plain"},
    {"method": "POST", "data": bytes(MEBIBYTE + 1), "content_type": "application/json"},
]

METRICS = """\
# HELP stich_http_requests_total Requests answered.
# TYPE stich_http_requests_total counter
stich_http_requests_total{method="GET",route="/healthz",status="200"} 1.0
"""
"""Some of the metrics after one request to /healthz."""


def _send(
    client: FlaskClient, path: str, name: str, summary: str, body: dict[str, Any] | None
) -> Example:
    url = path.format(game=name)
    response = client.get(url) if body is None else client.post(url, json=body)
    return Example(
        path, name, summary, _shown(body), response.status_code, _shown(response.get_json())
    )


def _shown(body: Any) -> Any:
    """A body with `TOKEN` in place of a real token."""
    return {**body, "sealed": TOKEN} if body and "sealed" in body else body
