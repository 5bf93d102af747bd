"""The operations of the contract."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

from service.openapi.components import UNAVAILABLE, content, response
from service.openapi.examples import METRICS, Example, collect_examples
from service.problems import MEDIA_TYPE, PROBLEM_TYPES
from service.schemas.fields import ref
from service.schemas.responses import problem_component

_TEXT: Final = {"type": "string"}
_AFTER_STATE: Final[dict[str, dict[str, Any]]] = {
    "listMoves": {"state": "$response.body#/state"},
    "viewState": {"state": "$response.body#/state", "seat": 0},
    "validateMove": {"state": "$response.body#/state", "move": "pass"},
    "makeMoves": {"state": "$response.body#/state", "moves": ["bid:1"]},
}
_LINKS: Final = {
    "StartAnswer": _AFTER_STATE,
    "AdvanceAnswer": _AFTER_STATE,
    "ViewAnswer": {
        "listMoves": {"view": "$response.body#/view"},
        "validateMove": {"view": "$response.body#/view", "move": "pass"},
    },
}
"""The operations that a client may call next, with their bodies, by the schema of a response."""


def paths() -> dict[str, dict[str, Any]]:
    """All operations by path and method."""
    examples: dict[str, list[Example]] = defaultdict(list)
    for example in collect_examples():
        examples[example.path].append(example)
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
            _ok("All games.", "GamesAnswer", examples["/v1/games"]),
        ),
        "/v1/games/{game}": _get(
            "getGame",
            "games",
            "Describe a game",
            "Returns the options, deck, phases and categories of a game.",
            _ok("The game.", "GameFull", examples["/v1/games/{game}"]),
            "not-found",
            **of_a_game,
        ),
        "/v1/start": _post(
            examples["/v1/start"],
            "startGame",
            "Start a game",
            "Deals the cards and returns the first state. `players` defaults to the fewest that the"
            " game allows, `seed` to a random one, and each option to its own default. With `seal`"
            " the service draws the seed and returns a sealed state, which shows the client no"
            " hidden card, and a key for each seat; with `key_hashes` each player has drawn a key.",
            "StartRequest",
            "StartAnswer",
            "InvalidRequestProblem",
        ),
        "/v1/moves": _post(
            examples["/v1/moves"],
            "listMoves",
            "List the legal moves",
            "Lists every legal move in a fixed order: `pass`, bids ascending, trumps c d h s,"
            " single cards in deck order, then plays by number of cards, rank, category, and card"
            " by card. In Dou Dizhu and Dasan, plays that differ only in suits are listed once. A"
            " Zheng Fen list can exceed 30,000 moves. Only a set-up position can have more than"
            " 32,000; it is rejected with `invalid-state`, but `/v1/validate` and `/v1/advance`"
            " accept its moves.",
            "MovesRequest",
            "MovesAnswer",
            "RefusedPosition",
        ),
        "/v1/validate": _post(
            examples["/v1/validate"],
            "validateMove",
            "Check a move",
            "Says whether a move is legal, with its canonical form and category if it is, and the"
            " reason if it is not. An illegal move is not an error here.",
            "ValidateRequest",
            "Verdict",
            "RefusedPosition",
        ),
        "/v1/advance": _post(
            examples["/v1/advance"],
            "makeMoves",
            "Make one or more moves",
            "Returns the state after all the moves. If one is illegal, none is made, and the"
            " problem gives its `index`. In a sealed state, each must be of the seat whose key is"
            " given.",
            "AdvanceRequest",
            "AdvanceAnswer",
            "RefusedMoves",
        ),
        "/v1/view": _post(
            examples["/v1/view"],
            "viewState",
            "Get what a seat may know",
            "Returns the state as one seat sees it: without the seed and the other hands, and with"
            " hidden cards masked. A sealed state without a key is viewed as everybody may know"
            " it: `seat` is null and `hand` empty. The answer then has `key_hashes`, and after the"
            " end the `seed`, from which all deals follow.",
            "ViewRequest",
            "ViewAnswer",
            "RefusedPosition",
        ),
        "/openapi.yaml": _get(
            "getContract",
            "service",
            "Get this contract",
            "Returns this contract in YAML.",
            response("This contract.", _TEXT, "text/yaml"),
        ),
        "/docs": _get(
            "readDocs",
            "service",
            "Get the contract as a web page",
            "Returns a page that shows this contract and can call its operations.",
            response("The page.", _TEXT, "text/html"),
        ),
        "/docs/rules/{game}": _get(
            "readRulesPage",
            "service",
            "Get the rules of a game as a web page",
            "Returns the rules of a game in HTML.",
            response("The page.", _TEXT, "text/html"),
            "not-found",
            **of_a_game,
        ),
        "/docs/rules/{game}.md": _get(
            "readRules",
            "service",
            "Get the rules of a game",
            "Returns the rules of a game in Markdown.",
            response("The rules.", _TEXT, "text/markdown"),
            "not-found",
            **of_a_game,
        ),
        "/healthz": _get(
            "getHealth",
            "service",
            "Check whether the service is up",
            "Returns at once, without doing any work.",
            _ok("It is up.", "Health", examples["/healthz"]),
        ),
        "/readyz": _get(
            "getReadiness",
            "service",
            "Check whether the service can answer requests",
            "Reads the service's files and deals every game; answers 500 if that fails.",
            _ok("It is ready.", "Health", examples["/readyz"]),
        ),
        "/metrics": _get(
            "getMetrics",
            "service",
            "Get metrics for Prometheus",
            "Returns counters and durations.",
            response("The metrics.", _TEXT, "text/plain", example=METRICS),
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


def _post(
    examples: list[Example],
    operation_id: str,
    summary: str,
    description: str,
    request: str,
    answer: str,
    rejection: str,
) -> dict[str, Any]:
    """An operation of the rules; `request`, `answer` and `rejection` name schemas."""
    requests = _labelled(examples, 200, "request")
    success = _ok("Success.", answer, examples)
    if answer in _LINKS:
        success["links"] = {
            operation: {"operationId": operation, "requestBody": body}
            for operation, body in _LINKS[answer].items()
        }
    rejected = response(
        "The request is rejected: `code` and `detail` say why.",
        ref(rejection),
        MEDIA_TYPE,
        **_labelled(examples, 422, "response"),
    )
    return {
        "post": {
            "operationId": operation_id,
            "tags": ["play"],
            "summary": summary,
            "description": description,
            "requestBody": {"required": True, "content": content(ref(request), **requests)},
            "responses": {
                "200": success,
                **_problems(
                    "malformed-json",
                    *(() if request == "StartRequest" else ("invalid-token",)),
                    "method-not-allowed",
                    "timeout",
                    "too-large",
                    "unsupported-media-type",
                ),
                "422": rejected,
                **_problems("busy", "internal"),
                "503": UNAVAILABLE,
            },
        }
    }


def _ok(description: str, schema: str, examples: list[Example]) -> dict[str, Any]:
    return response(description, ref(schema), **_labelled(examples, 200, "response"))


def _labelled(examples: list[Example], status: int, part: str) -> dict[str, Any]:
    found = {
        one.name: {"summary": one.summary, "value": getattr(one, part)}
        for one in examples
        if one.status == status
    }
    return {"examples": found} if found else {}


def _problems(*codes: str) -> dict[str, Any]:
    return {str(PROBLEM_TYPES[code].status): problem_component(code) for code in codes}
