"""A finished run."""

from pathlib import Path

import pytest

from tests.support import played

BOTS = ("ann", "bob", "cat", "dan")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a finished cup of four bots."""
    played.run(tmp_path / "run", played.cup(BOTS)).close()
    return tmp_path / "run"
