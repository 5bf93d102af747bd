"""The JSON Schema of a CUP.toml says the same as the check of `stich run`."""

import json
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from tests.support.tournament.cup_files import GOOD, WRONG
from tournament.config.json_schema import cup_schema
from tournament.config.parse import read_cup

EXAMPLES = Path(__file__).parents[3] / "examples"
SCHEMA = Draft7Validator(cup_schema())


def test_the_schema_is_current() -> None:
    Draft7Validator.check_schema(SCHEMA.schema)
    text = (EXAMPLES / "cup.schema.json").read_text()
    assert json.loads(text) == SCHEMA.schema, "run python -m tournament.config.json_schema"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: str(path.stem))
def test_the_examples_are_valid_and_name_the_schema(path: Path) -> None:
    assert path.read_text().startswith("#:schema cup.schema.json\n")
    SCHEMA.validate(tomllib.loads(path.read_text()))
    read_cup(path)


@pytest.mark.parametrize("change", [change for change, _ in WRONG])
def test_it_refuses_what_the_check_refuses(change: tuple[str, str]) -> None:
    assert SCHEMA.is_valid(tomllib.loads(GOOD))
    assert not SCHEMA.is_valid(tomllib.loads(GOOD.replace(*change, 1)))
