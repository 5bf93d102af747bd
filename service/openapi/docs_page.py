"""The contract as one readable page: HTML without scripts, nothing from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from service.problems import KINDS


def render(contract: Mapping[str, Any]) -> str:
    """The page."""
    environment = Environment(
        loader=PackageLoader("service"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(prose=prose, kind=kind, limits=limits, example=example)
    return environment.get_template("docs.html").render(
        contract=contract,
        operations=list(_operations(contract)),
        calls=list(_calls(contract)),
        schemas=contract["components"]["schemas"],
        problems=KINDS.values(),
    )


def _operations(contract: Mapping[str, Any]) -> Any:
    for path, item in contract["paths"].items():
        for method, operation in item.items():
            yield _operation(contract, method.upper(), path, operation)


def _calls(contract: Mapping[str, Any]) -> Any:
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
            response = _by_reference(contract, response["$ref"])
        responses.append({"status": status, **response})
    return {"method": method, "path": path, **operation, "responses": responses}


def _by_reference(contract: Mapping[str, Any], reference: str) -> dict[str, Any]:
    """A response that operations share; its examples stand once, below the table of problems."""
    response = contract["components"]["responses"][reference.rsplit("/", 1)[1]]
    content = {
        media_type: {name: value for name, value in one.items() if name != "examples"}
        for media_type, one in response["content"].items()
    }
    return {**response, "content": content}


def prose(text: str) -> Markup:
    """Text with paragraphs, `code` and *emphasis*."""
    paragraphs = []
    for paragraph in str(text).strip().split("\n\n"):
        pieces = str(escape(paragraph)).split("`")
        for index, piece in enumerate(pieces):
            if index % 2:
                pieces[index] = f"<code>{piece}</code>"
            else:
                words = piece.split("*")
                for at in range(1, len(words) - 1, 2):
                    words[at] = f"<em>{words[at]}</em>"
                pieces[index] = "".join(words)
        paragraphs.append(f"<p>{''.join(pieces)}</p>")
    # every piece was escaped above
    return Markup("\n".join(paragraphs))  # noqa: S704 - escaped, as said


def kind(schema: Mapping[str, Any]) -> Markup:
    """The type of a value in a few words, with links to named schemas."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return Markup('<a href="#schema-{0}">{0}</a>').format(name)
    if "oneOf" in schema:
        return Markup(" or ").join(kind(one) for one in schema["oneOf"])
    if "const" in schema:
        return Markup("<code>{}</code>").format(json.dumps(schema["const"]))
    types = schema.get("type", "any")
    if isinstance(types, list):
        return Markup(" or ").join(kind({**schema, "type": one}) for one in types)
    if types == "array":
        return Markup("list of ") + kind(schema.get("items", {}))
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


def example(value: object) -> str:
    """JSON to read: short lists and objects stay on one line."""
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
