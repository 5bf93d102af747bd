"""The Python example of the README works."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.support.pages import ROOT, blocks


def test_the_cup_runs_as_copied(tmp_path: Path) -> None:
    (block,) = blocks("README.md", "toml")
    (tmp_path / "CUP.toml").write_text(block.replace("deals = 40", "deals = 1"))
    ran = subprocess.run(
        [sys.executable, "-m", "stich", "run", "CUP.toml", "--out", "run"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.startswith("Starting 3 bots ...")
    assert "Spring cup: doudizhu, final" in ran.stdout
    assert "greedy" in ran.stdout


def test_the_python_example_plays_a_deal() -> None:
    (block,) = blocks("README.md", "python")
    ran = subprocess.run(
        [sys.executable, "-c", block], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    scores = [int(score) for score in re.findall(r"-?\d+", ran.stdout)]
    assert len(scores) == 3
    assert sum(scores) == 0
    assert any(scores), "a deal that all pass shows nothing"
