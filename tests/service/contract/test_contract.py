from collections.abc import Iterator
from typing import Any

from flask.testing import FlaskClient
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

import games
from service import openapi
from tests.support.service.contract import ROOT, contract

OPERATIONS, CALLS = (
    [
        (path, method, about)
        for path, item in contract()[part].items()
        for method, about in item.items()
    ]
    for part in ("paths", "webhooks")
)
SCHEMAS: dict[str, Any] = contract()["components"]["schemas"]


def test_the_contract_is_current_served_and_valid(client: FlaskClient) -> None:
    written = (ROOT / "openapi.yaml").read_text(encoding="utf-8")
    assert written == openapi.current(), "run: python -m service.openapi"
    assert client.get("/openapi.yaml").text == written
    assert client.get("/openapi.json").json == contract()
    OpenAPIV31SpecValidator(contract()).validate()
    assert contract()["openapi"].startswith("3.1.")


def test_the_operations_are_those_of_the_service(client: FlaskClient) -> None:
    rules = client.application.url_map.iter_rules()
    served = {
        (rule.rule.replace("<name>", "{game}"), method.lower())
        for rule in rules
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    # the page's own files, and the way to it, are no operations
    served -= {("/", "get"), ("/docs/assets/{game}", "get")}
    assert {(path, method) for path, method, _ in OPERATIONS} == served


def test_every_operation_lists_every_problem_and_has_examples() -> None:
    for path, method, operation in OPERATIONS:
        expected = {"200", "405", "500"}
        if method == "post":
            expected |= {"400", "408", "413", "415", "422", "429", "503"}
            requests = operation["requestBody"]["content"]["application/json"]["examples"]
            answers = operation["responses"]["200"]["content"]["application/json"]["examples"]
            assert set(requests) == set(answers)
            assert "sealed" in path or set(answers) >= set(games.GAMES)
            if path.startswith("/v1/sealed/") and path != "/v1/sealed/start":
                expected |= {"403"}
        if "{game}" in path:
            expected |= {"404"}
        assert set(operation["responses"]) == expected, path


def parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    nested = [*schema.get("oneOf", []), schema.get("items"), schema.get("additionalProperties")]
    for inner in nested:
        if isinstance(inner, dict):
            yield from parts(inner)


def test_every_field_has_its_type_range_and_description() -> None:
    fields = [
        (f"{name}.{field}", about)
        for name, schema in SCHEMAS.items()
        for field, about in schema.get("properties", {}).items()
    ]
    for where, schema in fields:
        assert schema["description"].rstrip(".").strip(), where
        # generators of clients take a field that has a default for one that is always there
        assert "default" not in schema, where
        for part in parts(schema):
            types = part.get("type", ())
            assert types or "$ref" in part or "oneOf" in part, where
            if "integer" in types:
                assert part["minimum"] <= part["maximum"], where
            if "array" in types:
                assert "items" in part, where
                assert part["maxItems"] >= part.get("minItems", 0), where


def test_every_game_has_its_schemas_and_only_answers_may_grow() -> None:
    for base in ("State", "View", "StartRequest", "SealedStartRequest"):
        # No discriminator: clients in Rust would send `game` twice. An enum with one value will do.
        assert "discriminator" not in SCHEMAS[base]
        names = [variant["$ref"].rsplit("/", 1)[1] for variant in SCHEMAS[base]["oneOf"]]
        enums = [SCHEMAS[name]["properties"]["game"]["enum"] for name in names]
        assert enums == [[game] for game in games.GAMES]
    requests = {n for n in SCHEMAS if n.endswith(("Request", "Start")) and not n.startswith("Bot")}
    both = {n for n in SCHEMAS if n.startswith(tuple(name.capitalize() for name in games.GAMES))}
    for name, schema in SCHEMAS.items():
        if schema.get("type") == "object":
            assert schema["additionalProperties"] is (name not in requests | both | {"Entry"}), name


def examples() -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Every example of a body: where it is, its schema and its value."""
    bodies = dict(contract()["components"]["responses"])
    for path, method, operation in OPERATIONS + CALLS:
        about = {"request": operation.get("requestBody", {}), **operation["responses"]}
        bodies |= {f"{method} {path} {status}": body for status, body in about.items()}
    for where, body in bodies.items():
        for content in body.get("content", {}).values():
            for name, example in content.get("examples", {}).items():
                yield f"{where} {name}", content["schema"], example["value"]
            if "example" in content:
                yield where, content["schema"], content["example"]


def test_every_example_matches_its_schema() -> None:
    for where, schema, example in examples():
        whole = {**schema, "components": contract()["components"]}
        assert Draft202012Validator(whole).is_valid(example), where
