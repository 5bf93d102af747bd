"""The JavaScript of the table and of replays, by Node's test runner."""

import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "javascript"


@pytest.mark.skipif(
    shutil.which("node") is None, reason="needs Node.js 18 or newer: apt install nodejs"
)
@pytest.mark.parametrize("name", ["table", "replay"])
def test_the_scripts_of_the_pages(name: str) -> None:
    ran = subprocess.run(
        ["node", "--test", f"{name}.test.mjs"], cwd=FOLDER, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout
