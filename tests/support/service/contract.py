"""A client of the service that checks every response against openapi.yaml."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from flask.testing import FlaskClient
from jsonschema import Draft202012Validator
from werkzeug.test import TestResponse

import games
from tests.support.games.zhengfen import wire
from tests.support.pages import ROOT as ROOT


@cache
def contract() -> Any:
    return yaml.load((ROOT / "openapi.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)


@cache
def validator(name: str) -> Draft202012Validator:
    schema = {"$ref": f"#/components/schemas/{name}", "components": contract()["components"]}
    return Draft202012Validator(schema)


def matches(name: str, value: object) -> bool:
    return bool(validator(name).is_valid(value))


def operation(method: str, path: str) -> Any:
    """The operation of the contract at a path."""
    for template, item in contract()["paths"].items():
        if method in item and fnmatchcase(path, template.replace("{game}", "*")):
            return item[method]
    raise AssertionError(f"{method} {path} is not in the contract")


def check(method: str, path: str, response: TestResponse) -> None:
    """Check a response against the contract: status, content type, body."""
    responses = operation(method, path)["responses"]
    assert str(response.status_code) in responses, (path, response.status_code, response.data)
    documented = responses[str(response.status_code)]
    if "$ref" in documented:
        documented = contract()["components"]["responses"][Path(documented["$ref"]).name]
    assert response.mimetype in documented["content"], (path, response.content_type)
    schema = documented["content"][response.mimetype]["schema"]
    if "$ref" in schema:
        validator(Path(schema["$ref"]).name).validate(response.json)


class Service:
    def __init__(self, client: FlaskClient) -> None:
        self.client = client

    def get(self, path: str) -> Any:
        response = self.client.get(path)
        check("get", path, response)
        return response.json

    def send(self, path: str, body: bytes | str, content_type: str = "application/json") -> Any:
        response = self.client.post(path, data=body, content_type=content_type)
        check("post", path, response)
        return response.json

    def post(self, path: str, body: Any) -> Any:
        return self.send(path, json.dumps(body))

    def start(self, game: str, players: int | None = None, **options: Any) -> Any:
        body = {"game": game, "players": players, "seed": "test", "options": options}
        return self.post("/v1/start", body)["state"]

    def advance(self, state: Any, *moves: str) -> Any:
        answer = self.post("/v1/advance", {"state": state, "moves": list(moves)})
        assert "state" in answer, answer
        return answer["state"]


def states(game: str, plies: int = 30, seed: str = "test", players: int | None = None) -> list[Any]:
    """Wire forms of the states of a game in which each move is the middle one of its list."""
    state = games.get(game).start(players, seed, {})
    wires = [state.to_dict()]
    while len(wires) <= plies and state.turn is not None:
        moves = state.moves()
        state = state.advance(moves[len(moves) // 2])
        wires.append(state.to_dict())
    return wires


LONGEST = "3c3d3h3s4c4d4h4s5c5d5h5s6c6d6h6sBjRj"
"""The hand with the longest list that a deal can give: 800 KB."""


def moves(*hands: str) -> bytes:
    """The body of a request for the moves of a Zheng Fen position with these hands."""
    return json.dumps({"state": wire(list(hands))}).encode()
