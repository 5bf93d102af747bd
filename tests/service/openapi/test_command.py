"""`python -m service.openapi`, which the pre-commit hook runs with --check."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.service.support import ROOT


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "service.openapi", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_current_file_passes_the_check_silently(tmp_path: Path) -> None:
    shutil.copy(ROOT / "openapi.yaml", tmp_path)
    ran = run(tmp_path, "--check")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_a_changed_file_fails_the_check_and_is_left_alone(tmp_path: Path) -> None:
    changed = tmp_path / "openapi.yaml"
    changed.write_text("openapi: 3.1.0\n")
    ran = run(tmp_path, "--check")
    assert ran.returncode == 1
    assert ran.stderr == "openapi.yaml is not current: run `make openapi`.\n"
    assert changed.read_text() == "openapi: 3.1.0\n"


def test_a_missing_file_fails_the_check(tmp_path: Path) -> None:
    assert run(tmp_path, "--check").returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_flag_is_refused_and_writes_nothing(tmp_path: Path) -> None:
    assert run(tmp_path, "--chekc").returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_without_a_flag_the_file_is_written(tmp_path: Path) -> None:
    assert run(tmp_path).returncode == 0
    assert (tmp_path / "openapi.yaml").read_bytes() == (ROOT / "openapi.yaml").read_bytes()
