import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import npm
from tests.support.service.contract import ROOT, contract
from tests.support.service.running import Running


@pytest.mark.slow
def test_linters_find_no_error_and_no_warning_in_the_contract(tmp_path: Path) -> None:
    folder = npm.installed(Path(__file__).with_name("linters"), tmp_path)
    shutil.copy(ROOT / "openapi.yaml", folder)
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    for command in ("spectral lint --fail-severity=hint", "redocly lint"):
        program, *arguments = command.split()
        words = [str(folder / "node_modules" / ".bin" / program), *arguments, "openapi.yaml"]
        environ = {**os.environ, **quiet}
        done = subprocess.run(words, cwd=folder, env=environ, capture_output=True, text=True)
        output = done.stdout + done.stderr
        assert done.returncode == 0, output
        assert " warning" not in output.replace("Deprecation warning", ""), output


@pytest.mark.slow
def test_the_running_service_matches_its_contract(running: Running, tmp_path: Path) -> None:
    config = Path(__file__).with_name("schemathesis.toml")
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(config)),
        *("run", running.url + "/openapi.yaml", "--url", running.url),
        # One worker: threads that parse Python source disturb one another in CPython 3.11.
        *("--checks", "all", "--max-examples", "15", "--workers", "1", "--seed", "1"),
        *("--generation-database", "none", "--continue-on-failure", "--no-color"),
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    # Schemathesis leaves out the operation that it reads; test_contract checks that one.
    number = sum(map(len, contract()["paths"].values())) - 1
    assert f"{number} selected / {number} total" in done.stdout
    assert "warning" not in done.stdout, done.stdout
