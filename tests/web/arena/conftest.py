"""The checker of accessibility for all tests in a browser."""

from pathlib import Path

import pytest

from tests.support import npm

ACCESSIBILITY = Path(__file__).parents[2] / "accessibility"


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core."""
    folder = npm.installed(ACCESSIBILITY, tmp_path_factory.mktemp("axe"))
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()
