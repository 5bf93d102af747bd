"""Updates the contract: `python -m service.openapi` rewrites `openapi.yaml`.

Operations, schemas of answers and the bot protocol are edited in the file itself. Other schemas,
the version, descriptions of problems, and the answers in examples come from the code.
"""

from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, cast

import yaml
from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow.fields import Field

import games
from service.app import create_app
from service.operations import SEALER
from service.problems import PROBLEM_TYPES
from service.schemas import requests
from service.schemas.fields import JsonField, ObjectSchema
from service.schemas.positions import STATES, VIEWS
from service.settings import Settings

FILE: Final = Path(__file__).resolve().parents[1] / "openapi.yaml"


class _Converter(OpenAPIConverter):
    def field2property(self, field: Field[Any]) -> dict[str, Any]:
        return cast("JsonField", field).json_schema()


class _Plugin(MarshmallowPlugin):
    Converter = _Converter


def current() -> str:
    """Return the text of `openapi.yaml`, brought up to date. The file is not changed.

    Raises:
        OSError: if the file cannot be read.
        yaml.YAMLError: if the file is not YAML.
    """
    contract = yaml.load(FILE.read_text(encoding="utf-8"), yaml.CSafeLoader)
    contract["info"]["version"] = version("stich")
    schemas = contract["components"]["schemas"]
    schemas["GameName"]["enum"] = list(games.GAMES)
    schemas["Reason"]["enum"] = [reason.value for reason in games.Reason]
    schemas["Problem"]["properties"]["code"]["enum"] = list(PROBLEM_TYPES)
    schemas |= _object_schemas()
    responses = contract["components"]["responses"]
    for code, problem in PROBLEM_TYPES.items():
        response = code.title().replace("-", "") + "Problem"  # such as TooLargeProblem
        if response in responses:
            responses[response]["description"] = problem.description
    _answer_examples(contract["paths"])
    text: str = yaml.dump(contract, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


def _object_schemas() -> dict[str, Any]:
    types: dict[str, type[ObjectSchema]] = {}
    bodies = [validator.schemas for validator in requests.VALIDATORS]
    for schemas in (*bodies, STATES, VIEWS):
        for schema in schemas.values():
            _add(types, schema)
    spec = APISpec("", "", "3.1.0", plugins=[_Plugin()])
    for name, type_ in types.items():
        spec.components.schema(name, {"description": type_.__doc__}, schema=type_)
    made: dict[str, Any] = spec.to_dict()["components"]["schemas"]
    return made


def _add(types: dict[str, type[ObjectSchema]], schema: ObjectSchema) -> None:
    """Add the class of `schema` to `types`, after the classes of the schemas that it refers to."""
    for field in cast("dict[str, JsonField]", schema.fields).values():
        if field.nested is not None and type(field.nested).__name__ not in types:
            _add(types, field.nested)
    types[type(schema).__name__] = type(schema)


def _answer_examples(paths: dict[str, Any]) -> None:
    # Tokens of sealed games stay as they are, because sealing is random.
    app = create_app(Settings(seal_keys={"2026": bytes(32)}))
    client = app.test_client()
    moves = _request_bodies(paths["/v1/moves"]["post"])["doudizhu"]
    start = _request_bodies(paths["/v1/sealed/start"]["post"])["sealed"]
    hashes = [bytes.fromhex(text) for text in start["key_hashes"]]
    token = app.extensions[SEALER].seal(games.get("doudizhu").state(moves["state"]), hashes)
    operations = [(path, about) for path, item in paths.items() for about in item.values()]
    for path, operation in operations:
        content = operation["responses"]["200"]["content"].get("application/json", {})
        for name, example in content.get("examples", {}).items():
            if "requestBody" in operation:
                body = _request_bodies(operation)[name]
                sealed = {"sealed": token} if "sealed" in body else {}
                answer = client.post(path, json={**body, **sealed}).get_json()
            else:
                answer = client.get(path.format(game=name)).get_json()
            if "sealed" in answer:
                answer["sealed"] = example["value"]["sealed"]
            example["value"] = answer


def _request_bodies(operation: dict[str, Any]) -> dict[str, Any]:
    examples = operation["requestBody"]["content"]["application/json"]["examples"]
    return {name: example["value"] for name, example in examples.items()}


class _Dumper(yaml.SafeDumper):
    """Writes YAML without anchors. References, history entries and lists of scalars are inline."""

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


if __name__ == "__main__":
    FILE.write_text(current(), encoding="utf-8")
