"""Clients generated from openapi.yaml by independent generators play whole games."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import games
from tests.support import npm
from tests.support.running import Running
from tests.support.service import ROOT

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent
CONTRACT = ROOT / "openapi.yaml"


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with Running() as one:
        yield one


def run(*command: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a command with the tools of this environment on its path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "NO_COLOR": "1", **environ}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


def played(done: subprocess.CompletedProcess[str]) -> None:
    """A whole game of each was played, and an invalid start was refused."""
    assert done.returncode == 0, done.stdout + done.stderr
    *lines, last = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["game"] for line in lines] == list(games.GAMES)
    for line in lines:
        assert line["results"] == 1
        assert len(line["scores"]) == games.get(line["game"]).min_players
    assert last == {"code": "invalid-request"}


def test_openapi_python_client(running: Running, tmp_path: Path) -> None:
    target = tmp_path / "stich_client"
    generator = shutil.which("openapi-python-client", path=str(Path(sys.executable).parent))
    assert generator, "openapi-python-client is in the extra `test`"
    arguments = ("--path", str(CONTRACT), "--output-path", str(target), "--meta", "none")
    made = run(generator, "generate", *arguments, "--fail-on-warning", cwd=tmp_path)
    assert made.returncode == 0, made.stdout + made.stderr
    assert "arning" not in made.stdout + made.stderr
    play = run(
        sys.executable, str(HERE / "play.py"), running.url, cwd=HERE, PYTHONPATH=str(tmp_path)
    )
    played(play)


@pytest.fixture(scope="module")
def node_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the TypeScript client with its dependencies installed."""
    return npm.installed(HERE / "typescript", tmp_path_factory.mktemp("typescript"))


def test_openapi_typescript(running: Running, node_project: Path) -> None:
    tools = node_project / "node_modules" / ".bin"
    made = run(
        str(tools / "openapi-typescript"), str(CONTRACT), "-o", "stich.d.ts", cwd=node_project
    )
    output: Any = made.stdout + made.stderr
    assert made.returncode == 0, output
    assert "⚠" not in output
    assert "warn" not in output.lower()
    compiled = run(str(tools / "tsc"), cwd=node_project)
    assert compiled.returncode == 0, compiled.stdout
    played(run("node", "out/play.js", running.url, cwd=node_project))
