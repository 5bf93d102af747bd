import ast
import re

from tests.support.pages import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
LINES = re.findall(r"^\| (?!attempt|---)(.*)\|$", PAGE, re.MULTILINE)
ROWS = [[cell.strip() for cell in line.split("|")] for line in LINES]


def test_every_row_has_a_verdict_and_a_test_that_exists() -> None:
    assert len(ROWS) > 40
    for _, *verdicts, named in ROWS:
        assert all(re.match(r"(held|open|–)", verdict) for verdict in verdicts), named
        match = re.fullmatch(r"`(tests/[\w/]+\.py)` `(test_\w+)`", named)
        assert match, named
        tree = ast.parse((ROOT / match[1]).read_text("utf-8"))
        assert match[2] in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
