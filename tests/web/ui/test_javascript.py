"""The JavaScript of the table and of replays, by Node's test runner."""

import subprocess
from pathlib import Path

import pytest

from tests.support.prerequisites import needs_node

FOLDER = Path(__file__).parent / "javascript"


@needs_node
@pytest.mark.parametrize("name", ["table", "replay"])
def test_the_scripts_of_the_pages(name: str) -> None:
    ran = subprocess.run(
        ["node", "--test", f"{name}.test.mjs"], cwd=FOLDER, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout
