"""Running this module writes the JSON Schemas of matches and of the results of `stich bench`."""

import json
from inspect import cleandoc
from pathlib import Path
from typing import Any

import msgspec

from tests.support.pages import ROOT
from tournament.bench.record import Record
from tournament.results.files.match_lines import MatchLine

MATCH = ROOT / "docs" / "match-format.schema.json"
BENCH = ROOT / "examples" / "bench.schema.json"


def schema(file: Path) -> dict[str, Any]:
    """The contents of a schema file. Descriptions are the docstrings of the classes."""
    head = {"title": "Result of stich bench"} if file == BENCH else {}
    made = msgspec.json.schema(Record if file == BENCH else MatchLine)
    for part in made["$defs"].values():
        if "description" in part:  # Python 3.12 and earlier leave the indentation
            part["description"] = cleandoc(part["description"])
    text = json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **head, **made})
    schema: dict[str, Any] = json.loads(text)  # with lists in place of tuples
    return schema


if __name__ == "__main__":
    for file in (MATCH, BENCH):
        file.write_text(json.dumps(schema(file), indent=2) + "\n", encoding="utf-8")
