from pathlib import Path

import pytest

from tests.support import npm


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core."""
    accessibility = Path(__file__).parents[2] / "accessibility"
    folder = npm.installed(accessibility, tmp_path_factory.mktemp("axe"))
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()
