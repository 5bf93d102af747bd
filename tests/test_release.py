"""The version is set in pyproject.toml; every copy of it agrees."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]


def test_the_changelog_begins_with_the_version_and_a_date() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8").replace("## Unreleased\n", "")
    heading = re.search(r"^## (.+)$", text, re.MULTILINE)
    assert heading
    assert re.fullmatch(rf"{re.escape(VERSION)} - \d{{4}}-\d\d-\d\d", heading[1])


def test_the_contract_has_the_version() -> None:
    contract = (ROOT / "openapi.yaml").read_text("utf-8")
    assert re.findall(r"^  version: (.+)$", contract, re.MULTILINE) == [VERSION]
