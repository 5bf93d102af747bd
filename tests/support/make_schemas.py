"""The JSON Schemas of matches and of results of `stich bench`.

`python -m tests.support.make_schemas` writes both.
"""

import json
from inspect import cleandoc
from pathlib import Path
from typing import Any

import msgspec

from tournament.bench.record import Record
from tournament.results.match_lines import MatchLine

ROOT = Path(__file__).parents[2]
MATCH = ROOT / "docs" / "match-format.schema.json"
BENCH = ROOT / "examples" / "bench.schema.json"


def schema(file: Path) -> dict[str, Any]:
    """What a file has to say. Descriptions are the docstrings, without the indentation that Python
    3.12 and earlier leave in them."""
    head = {"title": "Result of stich bench"} if file == BENCH else {}
    made = msgspec.json.schema(Record if file == BENCH else MatchLine)
    for part in made["$defs"].values():
        if "description" in part:
            part["description"] = cleandoc(part["description"])
    text = json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **head, **made})
    found: dict[str, Any] = json.loads(text)  # with lists in place of tuples
    return found


if __name__ == "__main__":
    for file in (MATCH, BENCH):
        file.write_text(json.dumps(schema(file), indent=2) + "\n", encoding="utf-8")
