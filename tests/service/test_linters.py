"""The contract passes the recommended rules of the linters that API authors use."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import npm
from tests.support.service import ROOT

LINTERS = Path(__file__).with_name("linters")
COMMANDS = {
    "spectral": ["spectral", "lint", "--fail-severity=hint", "openapi.yaml"],
    "redocly": ["redocly", "lint", "openapi.yaml"],
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the linters, their settings and the contract."""
    folder = npm.installed(LINTERS, tmp_path_factory.mktemp("linters"))
    shutil.copy(ROOT / "openapi.yaml", folder)
    return folder


@pytest.mark.slow
@pytest.mark.xdist_group("contract-linters")
@pytest.mark.parametrize("name", COMMANDS)
def test_the_contract_has_no_error_and_no_warning(project: Path, name: str) -> None:
    program, *arguments = COMMANDS[name]
    done = subprocess.run(
        [project / "node_modules" / ".bin" / program, *arguments],
        cwd=project,
        env={**os.environ, "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"},
        capture_output=True,
        text=True,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert " warning" not in output.replace("Deprecation warning", ""), output
