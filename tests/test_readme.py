"""The cup and the Python example of the README work."""

import re
from pathlib import Path

from tests.support.pages import blocks, run_script


def test_the_cup_runs_as_copied(tmp_path: Path) -> None:
    (cup,) = blocks("README.md", "toml")
    (tmp_path / "CUP.toml").write_text(cup.replace("deals = 40", "deals = 1"))
    printed = run_script("stich run CUP.toml --out run 2>&1", tmp_path)
    assert printed.startswith("Starting 3 bots ...")
    assert "Spring cup: doudizhu, final" in printed


def test_the_python_example_plays_a_deal(tmp_path: Path) -> None:
    (code,) = blocks("README.md", "python")
    (tmp_path / "example.py").write_text(code)
    printed = run_script("python example.py 2>&1", tmp_path)
    scores = [int(score) for score in re.findall(r"-?\d+", printed)]
    assert (len(scores), sum(scores)) == (3, 0)
    assert any(scores), "a deal that all pass shows nothing"
