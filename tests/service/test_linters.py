"""The contract passes the recommended rules of the linters that API authors use."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.service.support import ROOT

LINTERS = Path(__file__).with_name("linters")
COMMANDS = {
    "spectral": ["spectral", "lint", "--fail-severity=hint", "openapi.yaml"],
    "redocly": ["redocly", "lint", "openapi.yaml"],
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the linters, their settings and the contract."""
    if not (shutil.which("npm") and shutil.which("node")):
        pytest.skip("needs Node.js and npm")
    folder = tmp_path_factory.mktemp("linters") / "project"
    shutil.copytree(LINTERS, folder, ignore=shutil.ignore_patterns("node_modules"))
    shutil.copy(ROOT / "openapi.yaml", folder)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"npm cannot install: {done.stderr.strip().splitlines()[-1:]}")
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
