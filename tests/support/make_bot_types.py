"""Generates the TypeScript kit's api.d.ts, or another file: what bots need from openapi.yaml."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from tests.support.pages import ROOT

TYPES = ROOT / "bots" / "kits" / "typescript" / "src" / "api.d.ts"
ROOTS = ("BotCard", "BotEnd", "BotMoveAnswer", "BotMoveRequest", "BotStart")
"""The schemas of the bot protocol."""


def without_notes(schema: Any) -> Any:
    """A schema without notes on its fields, which docs/views.md and docs/bots.md explain."""
    if isinstance(schema, list):
        return [without_notes(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    notes = {"description", "example", "examples", "format"}
    return {
        key: without_notes(value)
        for key, value in schema.items()
        if key not in notes or isinstance(value, dict)  # a field of this name is no note
    }


def schemas_for_bots(contract: dict[str, Any]) -> dict[str, Any]:
    """The schemas of the bot protocol and all that they refer to, in the order of the contract."""
    schemas = contract["components"]["schemas"]
    needed: set[str] = set()
    waiting = [*ROOTS]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += re.findall(r"#/components/schemas/(\w+)", json.dumps(schemas[name]))
    return {
        name: without_notes(schema) | {"description": schema["description"]}
        for name, schema in schemas.items()
        if name in needed
    }


def main(target: str = str(TYPES)) -> None:
    contract = yaml.safe_load((ROOT / "openapi.yaml").read_text("utf-8"))
    reduced = {"openapi": contract["openapi"], "info": contract["info"], "paths": {}}
    reduced["components"] = {"schemas": schemas_for_bots(contract)}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "bots.yaml"
        source.write_text(yaml.safe_dump(reduced, sort_keys=False), "utf-8")
        npx = ["npx", "--yes", "openapi-typescript@7.13.0"]
        subprocess.run([*npx, str(source), "-o", target], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
