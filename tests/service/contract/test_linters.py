import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import npm
from tests.support.service.contract import ROOT

LINTERS = Path(__file__).with_name("linters")


@pytest.mark.slow
def test_linters_find_no_error_and_no_warning_in_the_contract(tmp_path: Path) -> None:
    folder = npm.installed(LINTERS, tmp_path)
    shutil.copy(ROOT / "openapi.yaml", folder)
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    for command in ("spectral lint --fail-severity=hint", "redocly lint"):
        program, *arguments = command.split()
        words = [folder / "node_modules" / ".bin" / program, *arguments, "openapi.yaml"]
        environ = {**os.environ, **quiet}
        done = subprocess.run(words, cwd=folder, env=environ, capture_output=True, text=True)
        output = done.stdout + done.stderr
        assert done.returncode == 0, output
        assert " warning" not in output.replace("Deprecation warning", ""), output
