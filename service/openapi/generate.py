"""The contract, `openapi.yaml`: written from the schemas, with examples out of real games.

`python -m service.openapi [FILE]` writes it; `--check` only says whether the file is current.
"""

from __future__ import annotations

import argparse
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import yaml
from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter

from service.openapi import components, paths, webhooks
from service.schemas.fields import Shape, WireField

DEFAULT_FILE: Final = Path("openapi.yaml")

DESCRIPTION: Final = """\
The rules of four card games: legal moves, their effects, and what each player may know.

The service keeps nothing between two calls. A game starts with `/v1/start`, which answers a
*state*: everything, all hands included. `/v1/moves` lists the legal moves of a state, `/v1/advance`
makes one or more of them and answers the next state, and `/v1/view` answers what one seat may know,
a *view*. `/v1/moves` and `/v1/validate` take a view in place of a state and answer the same.

A card is two characters, rank then suit: `3c`, `Th`, `As`; the jokers are `Bj` and `Rj`, a masked
card is `??`. A move is a short string: `pass`, `bid:2`, `play:3s3h`. Seats count from 0 in order of
play. Errors are problems (RFC 9457) with a `code`.

The calls under *webhooks* are those that the runner of tournaments makes to a bot.
"""


def document() -> dict[str, Any]:
    """The contract as a dictionary; made once, not to be changed."""
    return _document()


@cache
def _document() -> dict[str, Any]:
    plugin = MarshmallowPlugin()
    spec = APISpec(
        title="Stich",
        version=_version(),
        openapi_version="3.1.0",
        info={
            "summary": "The rules of four card games",
            "description": DESCRIPTION,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        servers=[
            {"url": "/", "description": "The service that this contract was read from."},
            {"url": "http://127.0.0.1:8080", "description": "`stich serve` on this machine."},
        ],
        tags=[
            {"name": "games", "description": "Which games there are."},
            {"name": "play", "description": "The rules: moves, their effects, views."},
            {"name": "service", "description": "The service itself."},
            {"name": "bots", "description": "The calls that the runner makes to a bot."},
        ],
        plugins=[plugin],
    )
    converter = plugin.converter
    if not isinstance(converter, OpenAPIConverter):
        raise TypeError("apispec made no converter")
    converter.add_attribute_function(_wire_field)  # type: ignore[no-untyped-call] # it has no types
    for name, raw in components.raw().items():
        spec.components.schema(name, raw)
    for name, shape in components.shapes().items():
        spec.components.schema(name, component=_about(shape), schema=shape)
    for name, response in components.problem_responses().items():
        spec.components.response(name, response)
    for path, operations in paths.paths().items():
        spec.path(path, operations=operations)
    made: dict[str, Any] = spec.to_dict()
    made["webhooks"] = webhooks.webhooks()
    order = ("openapi", "info", "servers", "tags", "paths", "webhooks", "components")
    return {key: made[key] for key in order}


def _wire_field(
    self: OpenAPIConverter, field: object, ret: dict[str, Any], **kwargs: object
) -> dict[str, Any]:
    """An apispec attribute function: a wire field tells its JSON Schema itself."""
    if not isinstance(field, WireField):
        return {}
    ret.clear()
    return field.schema()


def _about(shape: type[Shape]) -> dict[str, Any]:
    return {"description": shape.about}


def _version() -> str:
    try:
        return version("stich")
    except PackageNotFoundError:  # run from a tree that was never installed
        return "0"


class _Dumper(yaml.SafeDumper):
    """Plain YAML: no anchors, short lists and references on one line."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_data(self, data: Any) -> yaml.Node:
        node = super().represent_data(data)
        if isinstance(node, yaml.SequenceNode):
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
    """Write the contract to a file, or check that the file is current.

    Exits with 1 if it is not, and with 2 on unknown arguments.
    """
    parser = argparse.ArgumentParser(prog="python -m service.openapi", allow_abbrev=False)
    parser.add_argument("file", nargs="?", type=Path, default=DEFAULT_FILE)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if it differs")
    arguments = parser.parse_args()
    file: Path = arguments.file
    contract = to_yaml(document()).encode()
    if not arguments.check:
        file.write_bytes(contract)
    elif not file.is_file() or file.read_bytes() != contract:
        parser.exit(1, f"{file} is not current: run `make openapi`.\n")
