"""The contract, `openapi.yaml`: generated from the schemas, with examples from real games.

`python -m service.openapi [FILE]` writes it. `--check` writes nothing and reports whether the file
is current.
"""

from __future__ import annotations

import argparse
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, cast

import yaml
from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow.fields import Field

from service.openapi import components, paths, webhooks
from service.schemas.fields import JsonField

DESCRIPTION: Final = """\
Legal moves, their effects, and what each player may know.

The service is stateless. `/v1/start` starts a game and returns a *state*: the complete position,
including all hands. `/v1/moves` lists the legal moves in a state, `/v1/validate` checks a move,
`/v1/advance` makes one or more moves and returns the next state, and `/v1/view` returns a *view*:
what one seat may know. `/v1/moves` and `/v1/validate` accept a view in place of a state; with that
of the seat to move, the result is the same.

With `seal`, `/v1/start` returns a *sealed state*: an encrypted token, for clients that must not see
hidden cards. The same operations accept a token and the key of a seat.

A card is two characters, rank then suit: `3c`, `Th`, `As`; the jokers are `Bj` and `Rj`, and a
hidden card is `??`. A move is a short string: `pass`, `bid:2`, `play:3s3h`. Seats are numbered from
0 in order of play. Errors are problems (RFC 9457) with a `code`.

The *webhooks* are the calls that the tournament runner makes to a bot.
"""


class _Converter(OpenAPIConverter):
    """Takes the JSON Schema that a field defines, in place of apispec's."""

    def field2property(self, field: Field[Any]) -> dict[str, Any]:
        return cast("JsonField", field).json_schema()


class _Plugin(MarshmallowPlugin):
    Converter = _Converter


@cache
def document() -> dict[str, Any]:
    """The contract as a dictionary. It is cached: do not modify it."""
    spec = APISpec(
        title="Stich",
        version=_version(),
        openapi_version="3.1.0",
        info={
            "summary": "The rules of four card games",
            "description": DESCRIPTION,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        servers=[{"url": "/", "description": "The service that served this contract."}],
        security=[],
        tags=[
            {"name": "games", "description": "The games and their options."},
            {"name": "play", "description": "Moves, their effects, and views."},
            {"name": "service", "description": "The service itself."},
            {"name": "bots", "description": "The calls that the tournament runner makes to a bot."},
        ],
        plugins=[_Plugin()],
        webhooks=webhooks.webhooks(),
    )
    for name, raw in components.raw_schemas().items():
        spec.components.schema(name, raw)
    for name, schema in components.object_schemas().items():
        spec.components.schema(name, {"description": schema.__doc__}, schema=schema)
    for name, response in components.problem_responses().items():
        spec.components.response(name, response)
    for path, operations in paths.paths().items():
        spec.path(path, operations=operations)
    made: dict[str, Any] = spec.to_dict()
    order = ("openapi", "info", "servers", "security", "tags", "paths", "webhooks", "components")
    return {key: made[key] for key in order}


def _version() -> str:
    try:
        return version("stich")
    except PackageNotFoundError:  # the checkout was never installed
        return "0"


class _Dumper(yaml.SafeDumper):
    """Plain YAML: no anchors, paragraphs as blocks, short lists and references on one line."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_data(self, data: Any) -> yaml.Node:
        node = super().represent_data(data)
        if isinstance(node, yaml.ScalarNode) and "\n" in node.value:
            node.style = "|"
        elif isinstance(node, yaml.SequenceNode):
            node.flow_style = all(isinstance(item, yaml.ScalarNode) for item in node.value)
        elif isinstance(node, yaml.MappingNode):
            keys = {key.value for key, _ in node.value}
            node.flow_style = keys in ({"$ref"}, {"seat", "move"}, set())
        return node


def to_yaml(contract: dict[str, Any]) -> str:
    """The contract as YAML."""
    text: str = yaml.dump(contract, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


def main() -> None:
    """Write the contract, or check that the file is current.

    Exits with 1 if it is not, and with 2 on unknown arguments.
    """
    parser = argparse.ArgumentParser(prog="python -m service.openapi", allow_abbrev=False)
    parser.add_argument("file", nargs="?", type=Path, default=Path("openapi.yaml"))
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if outdated")
    arguments = parser.parse_args()
    file: Path = arguments.file
    content = to_yaml(document()).encode()
    if not arguments.check:
        file.write_bytes(content)
    elif not file.is_file() or file.read_bytes() != content:
        parser.exit(1, f"{file} is not current: run `make openapi`.\n")
