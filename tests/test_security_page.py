"""docs/security.md promises nothing without a test."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| attempt", "| ---"))
]


def test_every_row_has_a_verdict_and_a_test() -> None:
    assert len(ROWS) > 40
    for _, *verdicts, test in ROWS:
        assert all(re.match(r"(held|open|–)", verdict) for verdict in verdicts), test
        assert re.fullmatch(r"`tests/[\w/]+\.py` `test_\w+`", test), test


def test_the_tests_exist() -> None:
    for row in ROWS:
        file, test = row[-1].replace("`", "").split()
        tree = ast.parse((ROOT / file).read_text("utf-8"))
        assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, row


def test_five_sentences_are_promised() -> None:
    promises = PAGE.partition("## What is promised")[2].partition("\n\n## ")[0]
    assert re.findall(r"^(\d)\. ", promises, re.MULTILINE) == list("12345")
