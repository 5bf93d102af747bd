"""The JSON Schema of what is written and read as JSON."""

from inspect import cleandoc
from typing import Any

import msgspec


def schema_of(kind: type, **head: str) -> dict[str, Any]:
    """The JSON Schema of a msgspec type, with the keys of `head` at its top. Descriptions are the
    docstrings, without the indentation that Python 3.12 and earlier leave in them."""
    schema = msgspec.json.schema(kind)
    for part in schema["$defs"].values():
        if "description" in part:
            part["description"] = cleandoc(part["description"])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **head, **schema}
