"""Brings the contract up to date: `python -m service.openapi` updates `openapi.yaml`.

Operations, answers, problems and the bot protocol are written in the file itself. From the code
come the version, the schemas of requests and positions, and the answers to the examples.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import yaml

import games
from service.app import create_app
from service.schemas import requests
from service.schemas.fields import ObjectSchema
from service.schemas.positions import STATES, VIEWS

FILE: Final = Path(__file__).resolve().parents[1] / "openapi.yaml"


def update(contract: dict[str, Any]) -> None:
    """Bring the parts of a contract that come from the code up to date."""
    contract["info"]["version"] = version("stich")
    schemas = contract["components"]["schemas"]
    schemas["GameName"]["enum"] = list(games.GAMES)
    schemas["Reason"]["enum"] = [reason.value for reason in games.Reason]
    schemas |= _object_schemas()
    _answer_examples(contract["paths"])


def _object_schemas() -> dict[str, Any]:
    """The schemas of requests and positions, each after those that it refers to."""
    found: dict[str, Any] = {}
    for name in games.GAMES:
        for schemas in (requests.START.schemas, STATES, VIEWS):
            _add(found, schemas[name])
    for validator in requests.BY_POSITION:
        for schema in validator.schemas.values():
            _add(found, schema)
    return found


def _add(found: dict[str, Any], schema: ObjectSchema) -> None:
    for field in schema.json_fields.values():
        if field.nested is not None and type(field.nested).__name__ not in found:
            _add(found, field.nested)
    found[type(schema).__name__] = schema.json_schema()


def _answer_examples(paths: dict[str, Any]) -> None:
    """Send the request of each example to the service; tokens of sealed games are not real."""
    client = create_app().test_client()
    for path, operation, examples in _examples(paths):
        asked = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        for name, example in examples.items():
            if name.startswith("sealed"):
                continue
            if asked:
                answer = client.post(path, json=asked["examples"][name]["value"])
            else:
                answer = client.get(path.format(game=name))
            example["value"] = answer.get_json()


def _examples(paths: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Path, operation, and examples of successful answers."""
    for path, item in paths.items():
        for operation in item.values():
            content = operation["responses"]["200"]["content"]
            yield path, operation, content.get("application/json", {}).get("examples", {})


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


def current() -> str:
    """The contract, brought up to date, as YAML."""
    contract = yaml.load(FILE.read_text(encoding="utf-8"), yaml.CSafeLoader)
    update(contract)
    text: str = yaml.dump(contract, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


if __name__ == "__main__":
    FILE.write_text(current(), encoding="utf-8")
