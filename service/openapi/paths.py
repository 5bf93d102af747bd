"""The operations of the contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from service.openapi.components import problem_response
from service.openapi.examples import METRICS, Example, collect_examples
from service.problems import MEDIA_TYPE, PROBLEM_TYPES
from service.schemas.fields import ref
from service.schemas.responses import problem_component


@dataclass(frozen=True, slots=True)
class Post:
    """An operation of the rules; `request`, `response` and `problem` name schemas."""

    path: str
    operation_id: str
    summary: str
    description: str
    request: str
    response: str
    problem: str


POSTS: Final = (
    Post(
        "/v1/start",
        "startGame",
        "Start a game",
        "Deals the cards and returns the first state. `players` defaults to the fewest that the"
        " game allows, `seed` to a random one, and each option to its own default. With `seal` the"
        " service draws the seed and returns a sealed state, which shows the client no hidden card,"
        " and a key for each seat; with `key_hashes` each player has drawn a key.",
        "StartRequest",
        "StartAnswer",
        "InvalidRequestProblem",
    ),
    Post(
        "/v1/moves",
        "listMoves",
        "List the legal moves",
        "Lists every legal move in a fixed order: `pass`, bids ascending, trumps c d h s, single"
        " cards in deck order, then plays by number of cards, rank, category, and card by card."
        " In Dou Dizhu and Dasan, plays that differ only in suits are listed once. A Zheng Fen"
        " list can exceed 30,000 moves. Only a set-up position can have more than 32,000; it is"
        " rejected with `invalid-state`, but `/v1/validate` and `/v1/advance` accept its moves.",
        "MovesRequest",
        "MovesAnswer",
        "RefusedPosition",
    ),
    Post(
        "/v1/validate",
        "validateMove",
        "Check a move",
        "Says whether a move is legal, with its canonical form and category if it is, and the"
        " reason if it is not. An illegal move is not an error here.",
        "ValidateRequest",
        "Verdict",
        "RefusedPosition",
    ),
    Post(
        "/v1/advance",
        "makeMoves",
        "Make one or more moves",
        "Returns the state after all the moves. If one is illegal, none is made, and the problem"
        " gives its `index`. In a sealed state, each must be of the seat whose key is given.",
        "AdvanceRequest",
        "AdvanceAnswer",
        "RefusedMoves",
    ),
    Post(
        "/v1/view",
        "viewState",
        "Get what a seat may know",
        "Returns the state as one seat sees it: without the seed and the other hands, and with"
        " hidden cards masked. A sealed state without a key is viewed as everybody may know it:"
        " `seat` is null and `hand` empty, and after the end there is the `seed`, from which all"
        " deals follow.",
        "ViewRequest",
        "ViewAnswer",
        "RefusedPosition",
    ),
)


def paths() -> dict[str, dict[str, Any]]:
    """All operations by path and method."""
    examples = collect_examples()
    described = [one for one in examples if one.path.startswith("/v1/games/")]
    of_a_game = {
        "parameters": [
            {
                "name": "game",
                "in": "path",
                "required": True,
                "description": "The name of the game.",
                "schema": ref("GameName"),
            }
        ]
    }
    return {
        "/v1/games": _get(
            "listGames",
            "games",
            "List the games",
            "Returns a summary of every game.",
            _ok("All games.", "GamesAnswer", _of(examples, "/v1/games")),
        ),
        "/v1/games/{game}": _get(
            "getGame",
            "games",
            "Describe a game",
            "Returns the options, deck, phases and categories of a game.",
            _ok("The game.", "GameFull", [one for one in described if one.status == 200]),
            "not-found",
            **of_a_game,
        ),
        **{post.path: {"post": _post(post, _of(examples, post.path))} for post in POSTS},
        "/openapi.yaml": _get(
            "getContract",
            "service",
            "Get this contract",
            "Returns this contract in YAML.",
            _text("This contract.", "text/yaml"),
        ),
        "/docs": _get(
            "readDocs",
            "service",
            "Get the contract as a web page",
            "Returns a page that shows this contract and can call its operations.",
            _text("The page.", "text/html"),
        ),
        "/docs/rules/{game}": _get(
            "readRulesPage",
            "service",
            "Get the rules of a game as a web page",
            "Returns the rules of a game in HTML.",
            _text("The page.", "text/html"),
            "not-found",
            **of_a_game,
        ),
        "/docs/rules/{game}.md": _get(
            "readRules",
            "service",
            "Get the rules of a game",
            "Returns the rules of a game in Markdown.",
            _text("The rules.", "text/markdown"),
            "not-found",
            **of_a_game,
        ),
        "/healthz": _get(
            "getHealth",
            "service",
            "Check whether the service is up",
            "Returns at once, without doing any work.",
            _ok("It is up.", "Health", _of(examples, "/healthz")),
        ),
        "/readyz": _get(
            "getReadiness",
            "service",
            "Check whether the service can answer requests",
            "Reads the service's files and deals every game; answers 500 if that fails.",
            _ok("It is ready.", "Health", _of(examples, "/readyz")),
        ),
        "/metrics": _get(
            "getMetrics",
            "service",
            "Get metrics for Prometheus",
            "Returns counters and durations.",
            _text("The metrics.", "text/plain", example=METRICS),
        ),
    }


def _get(
    operation_id: str,
    tag: str,
    summary: str,
    description: str,
    answer: dict[str, Any],
    *problems: str,
    **more: Any,
) -> dict[str, Any]:
    return {
        "get": {
            "operationId": operation_id,
            "tags": [tag],
            "summary": summary,
            "description": description,
            **more,
            "responses": {"200": answer, **_problems(*problems, "method-not-allowed", "internal")},
        }
    }


def _text(description: str, media_type: str, **content: str) -> dict[str, Any]:
    schema = {"schema": {"type": "string"}}
    return {"description": description, "content": {media_type: {**schema, **content}}}


def _post(operation: Post, examples: list[Example]) -> dict[str, Any]:
    good = [example for example in examples if example.status == 200]
    bad = [example for example in examples if example.status == 422]
    requests = {one.name: {"summary": one.summary, "value": one.request} for one in good}
    rejected = problem_response(
        "The request is rejected: `code` and `detail` say why.",
        operation.problem,
    )
    if bad:
        rejected["content"][MEDIA_TYPE]["examples"] = _responses(bad)
    return {
        "operationId": operation.operation_id,
        "tags": ["play"],
        "summary": operation.summary,
        "description": operation.description,
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": ref(operation.request), "examples": requests}
            },
        },
        "responses": {
            "200": {**_ok("Success.", operation.response, good), **_links(operation.response)},
            **_problems(
                "malformed-json",
                *(() if operation.path == "/v1/start" else ("invalid-token",)),
                "method-not-allowed",
                "timeout",
                "too-large",
                "unsupported-media-type",
            ),
            "422": rejected,
            **_problems("busy", "internal", "sealing-unavailable"),
        },
    }


def _links(schema: str) -> dict[str, Any]:
    """The operations that a client may call next with a state or a view."""
    state, view = "$response.body#/state", "$response.body#/view"
    if schema in ("StartAnswer", "AdvanceAnswer"):
        following: dict[str, dict[str, Any]] = {
            "listMoves": {"state": state},
            "viewState": {"state": state, "seat": 0},
            "validateMove": {"state": state, "move": "pass"},
            "makeMoves": {"state": state, "moves": ["bid:1"]},
        }
    elif schema == "ViewAnswer":
        following = {"listMoves": {"view": view}, "validateMove": {"view": view, "move": "pass"}}
    else:
        return {}
    return {
        "links": {
            operation: {"operationId": operation, "requestBody": body}
            for operation, body in following.items()
        }
    }


def _of(examples: list[Example], path: str) -> list[Example]:
    return [example for example in examples if example.path == path]


def _responses(examples: list[Example]) -> dict[str, Any]:
    return {one.name: {"summary": one.summary, "value": one.response} for one in examples}


def _ok(description: str, schema: str, examples: list[Example]) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": ref(schema)}
    if examples:
        content["examples"] = _responses(examples)
    return {"description": description, "content": {"application/json": content}}


def _problems(*codes: str) -> dict[str, Any]:
    return {
        str(PROBLEM_TYPES[code].status): {
            "$ref": f"#/components/responses/{problem_component(code)}"
        }
        for code in codes
    }
