"""The commands and programs of the pages about match files and decisions work as copied."""

from pathlib import Path

import pytest

from tests.support.pages import ROOT, blocks, run_script
from tests.support.service.running import Running


def program(code: str, folder: Path) -> str:
    """The output of a Python program that runs in this folder."""
    (folder / "program.py").write_text(code, "utf-8")
    return run_script("python program.py", folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the commands of both pages were run, in their order."""
    pytest.importorskip("pyarrow", reason="a page writes Parquet")
    folder = tmp_path_factory.mktemp("pages")
    cup = (ROOT / "examples" / "cup.toml").read_text("utf-8")
    (folder / "CUP.toml").write_text(cup.replace("deals = 40", "deals = 3"), "utf-8")
    for script in [*blocks("docs/data.md", "sh"), *blocks("docs/match-format.md", "sh")]:
        if "serve" not in script:
            run_script(script, folder)
    return folder


def test_a_match_is_replayed_with_http_calls_only(folder: Path) -> None:
    (code,) = blocks("docs/match-format.md", "python")
    with Running() as service:
        printed = program(code.replace("http://127.0.0.1:8080", service.url), folder)
    assert printed.splitlines()[-1].startswith("replayed: [")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_decisions_are_loaded(folder: Path, library: str) -> None:
    pytest.importorskip(library, reason=f"{library} is only needed here; pip install {library}")
    (code,) = (code for code in blocks("docs/data.md", "python") if f"import {library}" in code)
    printed = program(code, folder)
    assert all(bot in printed for bot in ("greedy", "random", "sensible"))
