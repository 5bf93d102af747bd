"""The commands and programs of the pages about match files and decisions work as copied."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cups import ROOT
from tests.support.pages import blocks
from tests.support.running import Running


def program(code: str, folder: Path) -> str:
    """What a Python program prints that runs in this folder."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the commands of both pages were run, in their order."""
    pytest.importorskip("pyarrow", reason="a page writes Parquet")
    folder = tmp_path_factory.mktemp("pages")
    cup = (ROOT / "examples" / "cup.toml").read_text("utf-8")
    (folder / "CUP.toml").write_text(cup.replace("deals = 40", "deals = 3"), "utf-8")
    stich = f"{shlex.quote(sys.executable)} -m stich"
    for command in [*blocks("docs/data.md", "sh"), *blocks("docs/match-format.md", "sh")]:
        if "serve" not in command:
            script = re.sub(r"^stich", stich, command, flags=re.MULTILINE)
            done = subprocess.run(
                ["sh", "-e", "-c", script],
                cwd=folder,
                env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(folder)},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
    return folder


def test_a_match_is_replayed_with_http_calls_only(folder: Path) -> None:
    (code,) = blocks("docs/match-format.md", "python")
    with Running() as service:
        shown = program(code.replace("http://127.0.0.1:8080", service.url), folder)
    assert shown.splitlines()[-1].startswith("replayed: [")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_decisions_are_loaded(folder: Path, library: str) -> None:
    pytest.importorskip(library, reason=f"{library} is only needed here; pip install {library}")
    (code,) = (code for code in blocks("docs/data.md", "python") if f"import {library}" in code)
    shown = program(code, folder)
    assert all(bot in shown for bot in ("greedy", "random", "sensible"))
