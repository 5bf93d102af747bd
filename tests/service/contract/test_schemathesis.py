import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.service.contract import contract
from tests.support.service.running import Running

CONFIG = Path(__file__).with_name("schemathesis.toml")


@pytest.mark.slow
def test_the_running_service_matches_its_contract(running: Running, tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIG)),
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
