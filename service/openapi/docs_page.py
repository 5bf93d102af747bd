"""The contract as one HTML page, without scripts or anything from other hosts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from service.problems import PROBLEM_TYPES


def render(contract: Mapping[str, Any]) -> str:
    """Render the page."""
    environment = Environment(
        loader=PackageLoader("service.openapi"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(prose=prose, type=type_in_words, limits=limits, json=pretty_json)
    return environment.get_template("docs.html").render(
        contract=contract,
        operations=list(_operations(contract)),
        webhooks=list(_webhooks(contract)),
        schemas=contract["components"]["schemas"],
        problems=PROBLEM_TYPES.values(),
    )


def _operations(contract: Mapping[str, Any]) -> Any:
    for path, item in contract["paths"].items():
        for method, operation in item.items():
            yield _operation(contract, method.upper(), path, operation)


def _webhooks(contract: Mapping[str, Any]) -> Any:
    for item in contract["webhooks"].values():
        for method, operation in item.items():
            path = operation["summary"].split()[1]
            yield _operation(contract, method.upper(), path, operation)


def _operation(
    contract: Mapping[str, Any], method: str, path: str, operation: Mapping[str, Any]
) -> dict[str, Any]:
    responses = []
    for status, response in operation["responses"].items():
        if "$ref" in response:
            response = _resolve(contract, response["$ref"])
        responses.append({"status": status, **response})
    return {"method": method, "path": path, **operation, "responses": responses}


def _resolve(contract: Mapping[str, Any], reference: str) -> dict[str, Any]:
    """A shared response without its examples, which the page shows once, below the problems."""
    response = contract["components"]["responses"][reference.rsplit("/", 1)[1]]
    content = {
        media_type: {name: value for name, value in body.items() if name != "examples"}
        for media_type, body in response["content"].items()
    }
    return {**response, "content": content}


def prose(text: str) -> Markup:
    """Text with paragraphs, `code` and *emphasis* as HTML."""
    paragraphs = []
    for paragraph in str(text).strip().split("\n\n"):
        pieces = str(escape(paragraph)).split("`")
        for index, piece in enumerate(pieces):
            if index % 2:
                pieces[index] = f"<code>{piece}</code>"
            else:
                words = piece.split("*")
                for position in range(1, len(words) - 1, 2):
                    words[position] = f"<em>{words[position]}</em>"
                pieces[index] = "".join(words)
        paragraphs.append(f"<p>{''.join(pieces)}</p>")
    return Markup("\n".join(paragraphs))  # noqa: S704 - every piece was escaped above


def type_in_words(schema: Mapping[str, Any]) -> Markup:
    """The type of a value in a few words, with links to named schemas."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return Markup('<a href="#schema-{0}">{0}</a>').format(name)
    if "oneOf" in schema:
        return Markup(" or ").join(type_in_words(one) for one in schema["oneOf"])
    if "const" in schema:
        return Markup("<code>{}</code>").format(json.dumps(schema["const"]))
    types = schema.get("type", "any")
    if isinstance(types, list):
        return Markup(" or ").join(type_in_words({**schema, "type": one}) for one in types)
    if types == "array":
        return Markup("list of ") + type_in_words(schema.get("items", {}))
    if "enum" in schema and types == "string":
        return Markup(" | ").join(Markup("<code>{}</code>").format(one) for one in schema["enum"])
    return escape(types)


_LIMITS = (
    ("minimum", "at least {}"),
    ("maximum", "at most {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minItems", "at least {} entries"),
    ("maxItems", "at most {} entries"),
    ("pattern", "pattern {}"),
    ("default", "default {}"),
)


def limits(schema: Mapping[str, Any]) -> str:
    """The limits of a value in words."""
    return ", ".join(
        text.format(json.dumps(schema[key]) if key == "default" else schema[key])
        for key, text in _LIMITS
        if key in schema
    )


def pretty_json(value: object) -> str:
    """Indented JSON, with short lists and objects on one line."""
    return _lines(value, 0)


def _lines(value: object, indent: int) -> str:
    short = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or len(short) + indent <= 96:
        return short
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        inner = [
            f"{pad}{json.dumps(key)}: {_lines(item, indent + 2)}" for key, item in value.items()
        ]
        return "{\n" + ",\n".join(inner) + "\n" + " " * indent + "}"
    inner = [pad + _lines(item, indent + 2) for item in value]
    return "[\n" + ",\n".join(inner) + "\n" + " " * indent + "]"
