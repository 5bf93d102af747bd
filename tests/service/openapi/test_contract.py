"""openapi.yaml: up to date, valid, complete, and true."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from typing import Any

import pytest
import yaml
from flask.testing import FlaskClient
from openapi_spec_validator import OpenAPIV31SpecValidator

import games
from games import Reason
from service.openapi import examples, generate
from service.problems import KINDS
from service.schemas.fields import SAFE
from tests.service.support import ROOT, contract, keeps, validator

OPERATIONS = [
    (path, method, operation)
    for path, item in contract()["paths"].items()
    for method, operation in item.items()
]
CALLS = [
    (name, method, operation)
    for name, item in contract()["webhooks"].items()
    for method, operation in item.items()
]
RESPONSES: dict[str, Any] = contract()["components"]["responses"]
SCHEMAS: dict[str, Any] = contract()["components"]["schemas"]


def test_the_checked_in_contract_is_the_generated_one() -> None:
    written = (ROOT / "openapi.yaml").read_text(encoding="utf-8")
    assert written == generate.to_yaml(generate.document()), "run: python -m service.openapi"


def test_the_served_contract_is_the_checked_in_one(client: FlaskClient) -> None:
    response = client.get("/openapi.yaml")
    assert response.mimetype == "text/yaml"
    assert response.data == (ROOT / "openapi.yaml").read_bytes()


def test_a_tree_that_was_never_installed_has_a_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(generate, "version", version)
    assert generate._version() == "0"


def test_the_contract_is_valid_openapi_3_1() -> None:
    OpenAPIV31SpecValidator(contract()).validate()
    assert contract()["openapi"].startswith("3.1.")
    assert contract()["info"]["license"] == {"name": "MIT", "identifier": "MIT"}
    assert contract()["servers"]


def test_yaml_1_1_and_plain_yaml_read_the_same() -> None:
    text = (ROOT / "openapi.yaml").read_text(encoding="utf-8")
    assert yaml.load(text, yaml.BaseLoader)["paths"].keys() == contract()["paths"].keys()
    assert contract() == generate.document()


def test_the_operations_are_those_of_the_service(client: FlaskClient) -> None:
    rules = client.application.url_map.iter_rules()
    served = {
        (rule.rule.replace("<name>", "{game}"), method.lower())
        for rule in rules
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert {(path, method) for path, method, _ in OPERATIONS} == served


def test_every_operation_is_named_and_tagged() -> None:
    named = [operation["operationId"] for _, _, operation in OPERATIONS + CALLS]
    assert len(set(named)) == len(named)
    tags = {tag["name"] for tag in contract()["tags"]}
    for _, _, operation in OPERATIONS + CALLS:
        assert operation["summary"]
        assert operation["description"]
        assert set(operation["tags"]) <= tags


def test_every_operation_lists_every_problem_it_can_give() -> None:
    for path, method, operation in OPERATIONS:
        expected = {"200", "405", "500"}
        if method == "post":
            expected |= {"400", "413", "415", "422"}
        if "{game}" in path:
            expected |= {"404"}
        assert set(operation["responses"]) == expected, path


def test_the_bot_protocol_is_there() -> None:
    asked = {(operation["summary"].split()[1], method) for _, method, operation in CALLS}
    assert asked == {("/", "get"), ("/move", "post"), ("/start", "post"), ("/end", "post")}
    assert set(SCHEMAS["BotMoveRequest"]["required"]) == {
        "protocol", "match", "turn", "view", "moves", "clock"
    }  # fmt: skip


def test_codes_and_reasons_are_all_there() -> None:
    assert SCHEMAS["Reason"]["enum"] == [reason.value for reason in Reason]
    codes = {
        schema["properties"]["code"]["enum"][0]: schema["properties"]["status"]["minimum"]
        for name, schema in SCHEMAS.items()
        if name.endswith("Problem")
    }
    assert codes == {code: kind.status for code, kind in KINDS.items()}


def fields() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, schema in SCHEMAS.items():
        for field, about in schema.get("properties", {}).items():
            yield f"{name}.{field}", about


def parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for inner in schema.get("oneOf", []):
        yield from parts(inner)
    if "items" in schema:
        yield from parts(schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        yield from parts(schema["additionalProperties"])


@pytest.mark.parametrize(("where", "about"), list(fields()))
def test_every_field_has_its_type_range_and_description(where: str, about: dict[str, Any]) -> None:
    assert about["description"].rstrip(".").strip(), where
    for part in parts(about):
        kinds = part.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        assert kinds or "$ref" in part or "oneOf" in part, where
        if "integer" in kinds:
            assert part["minimum"] <= part["maximum"], where
        if "array" in kinds:
            assert "items" in part, where


def test_every_schema_says_what_it_is() -> None:
    for name, schema in SCHEMAS.items():
        assert schema["description"], name
        if schema.get("type") == "object":
            assert set(schema.get("required", [])) <= set(schema["properties"]), name


def test_every_game_has_state_view_and_start() -> None:
    for base in ("State", "View", "StartRequest"):
        assert set(SCHEMAS[base]["discriminator"]["mapping"]) == set(games.GAMES)
        mapped = list(SCHEMAS[base]["discriminator"]["mapping"].values())
        assert [one["$ref"] for one in SCHEMAS[base]["oneOf"]] == mapped


def _examples(content: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    if "example" in content:
        yield "example", content["example"]
    for name, example in content.get("examples", {}).items():
        yield name, example["value"]


def media() -> Iterator[Any]:
    """Every body of the contract that has examples, with its operation and status."""
    for path, method, operation in OPERATIONS + CALLS:
        bodies = {"request": operation.get("requestBody", {}), **operation["responses"]}
        for status, body in bodies.items():
            for content in body.get("content", {}).values():
                for name, example in _examples(content):
                    where = f"{method} {path} {status} {name}"
                    yield pytest.param(content["schema"], example, id=where)
    for response in RESPONSES.values():
        for content in response["content"].values():
            for name, example in _examples(content):
                yield pytest.param(content["schema"], example, id=f"any {name}")


@pytest.mark.parametrize(("schema", "example"), list(media()))
def test_every_example_keeps_its_schema(schema: dict[str, Any], example: Any) -> None:
    if "$ref" in schema:
        validator(schema["$ref"].rsplit("/", 1)[1]).validate(example)
    else:
        assert schema == {"type": "string"}
        assert isinstance(example, str)


def test_every_kind_of_problem_has_an_example() -> None:
    shown = {}
    for response in RESPONSES.values():
        ((code, example),) = response["content"]["application/problem+json"]["examples"].items()
        shown[code] = example["value"]["code"]
    assert shown == {code: code for code in KINDS}


def test_examples_do_not_depend_on_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STICH_MAX_BODY", "10")
    assert examples.problem("too-large")["code"] == "too-large"
    assert examples.problem("too-large")["detail"].count("1048576") == 1
    assert examples.problem("malformed-json")["code"] == "malformed-json"


def test_health_and_figures_are_shown_as_they_are(client: FlaskClient) -> None:
    paths = contract()["paths"]
    health = paths["/healthz"]["get"]["responses"]["200"]["content"]["application/json"]
    assert health["examples"]["alive"]["value"] == client.get("/healthz").json
    figures = paths["/metrics"]["get"]["responses"]["200"]["content"]["text/plain"]["example"]
    assert figures in client.get("/metrics").text


def test_every_response_is_referred_to_somewhere() -> None:
    text = (ROOT / "openapi.yaml").read_text(encoding="utf-8")
    for name in SCHEMAS:
        assert f"#/components/schemas/{name}'" in text, name
    assert "#/components/responses/MethodNotAllowedProblem'" in text
    allow = RESPONSES["MethodNotAllowedProblem"]["headers"]["Allow"]
    assert (allow["required"], allow["schema"]["type"]) == (True, "string")


# No clause bounds them, so that what was posted goes back however long it is.
ENDLESS = {"history", "results", "owed", "exchanged", "given", "returned", "AdvanceRequest.moves"}


@pytest.mark.parametrize(("where", "about"), list(fields()))
def test_every_list_has_an_end_but_those_that_have_none(where: str, about: dict[str, Any]) -> None:
    if not ENDLESS & {where, where.split(".")[1]}:
        for part in parts(about):
            if "array" in part.get("type", []):
                assert part["maxItems"] >= part.get("minItems", 0), where


def test_the_seat_of_an_entry_is_any_whole_number(client: FlaskClient) -> None:
    seat = SCHEMAS["Entry"]["properties"]["seat"]
    # it goes back as posted, so that a narrower range would make a liar of the answer's schema
    assert (seat["minimum"], seat["maximum"]) == (-SAFE, SAFE)
    assert "shape only" in seat["description"]
    state = games.get("dasan").start(3, "seat", {}).to_dict()
    history = [{"seat": -77, "move": "pass"}]
    answer = client.post("/v1/view", json={"state": {**state, "history": history}, "seat": 0})
    assert answer.json is not None
    assert answer.json["view"]["history"] == history


def test_every_example_is_answered_as_it_says(client: FlaskClient) -> None:
    asked = 0
    for path, method, operation in OPERATIONS:
        if method != "post":
            continue
        requests = operation["requestBody"]["content"]["application/json"]["examples"]
        answers = operation["responses"]["200"]["content"]["application/json"]["examples"]
        assert set(requests) == set(answers) >= set(games.GAMES)
        for name, request in requests.items():
            response = client.post(path, json=request["value"])
            assert response.json == answers[name]["value"], (path, name)
            asked += 1
    assert asked >= 5 * len(games.GAMES)


def test_the_schemas_refuse_what_is_wrong() -> None:
    for name in games.GAMES:
        state = next(
            example["value"]["state"]
            for _, _, operation in OPERATIONS
            if operation["operationId"] == "startGame"
            for key, example in operation["responses"]["200"]["content"]["application/json"][
                "examples"
            ].items()
            if key == name
        )
        assert keeps("State", state)
        assert not keeps("State", {**state, "tip": 1})
        assert not keeps("State", {**state, "hands": [["1c"]] * state["players"]})
        assert not keeps("View", state)
        for field in state:
            assert not keeps("State", {key: state[key] for key in state if key != field}), field
