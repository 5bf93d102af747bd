"""`python -m service.openapi`, which the pre-commit hook runs with --check."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from service.openapi import generate
from tests.service.support import ROOT


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """The exit code of the command."""
    monkeypatch.setattr(sys, "argv", ["service.openapi", *arguments])
    try:
        generate.main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def test_it_runs_as_a_module() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "service.openapi", "--check"], cwd=ROOT, check=False
    )
    assert ran.returncode == 0


def test_a_changed_file_fails_the_check_and_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = folder / "openapi.yaml"
    changed.write_text("openapi: 3.1.0\n")
    assert run(monkeypatch, "--check") == 1
    assert capsys.readouterr().err == "openapi.yaml is not current: run `make openapi`.\n"
    assert changed.read_text() == "openapi: 3.1.0\n"


def test_a_missing_file_fails_the_check(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(ROOT / "openapi.yaml", folder)
    assert run(monkeypatch, "--check") == 0
    (folder / "openapi.yaml").unlink()
    assert run(monkeypatch, "--check") == 1
    assert not (folder / "openapi.yaml").exists()


def test_an_unknown_flag_is_refused_and_writes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(monkeypatch, "--chekc") == 2
    assert list(folder.iterdir()) == []


def test_it_writes_the_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch) == 0
    assert run(monkeypatch, "other.yaml") == 0
    contract = (ROOT / "openapi.yaml").read_bytes()
    assert (folder / "openapi.yaml").read_bytes() == contract
    assert (folder / "other.yaml").read_bytes() == contract
