"""Every row of docs/security.md names its test."""

import ast
import re

from tests.support.pages import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| attempt", "| ---"))
]


def test_every_row_has_a_verdict_and_a_test_that_exists() -> None:
    assert len(ROWS) > 40
    for _, *verdicts, named in ROWS:
        assert all(re.match(r"(held|open|–)", verdict) for verdict in verdicts), named
        match = re.fullmatch(r"`(tests/[\w/]+\.py)` `(test_\w+)`", named)
        assert match, named
        tree = ast.parse((ROOT / match[1]).read_text("utf-8"))
        assert match[2] in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
