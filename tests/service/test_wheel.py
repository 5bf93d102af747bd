"""A wheel has the files that the service serves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

import games
from tests.service.support import ROOT

PARTS = ("games", "service", "tournament", "bots", "stich", "docs/rules")
FILES = ("openapi.yaml", "pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE")


@pytest.mark.slow
def test_a_wheel_has_the_static_files_and_serves_them(tmp_path: Path) -> None:
    source, built, installed = (tmp_path / name for name in ("source", "built", "installed"))
    ignored = shutil.ignore_patterns("__pycache__", "node_modules", "*.so", "build")
    for part in PARTS:
        shutil.copytree(ROOT / part, source / part, ignore=ignored)
    for name in FILES:
        shutil.copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
    environ = {name: value for name, value in os.environ.items() if name != "STICH_COMPILE"}
    subprocess.run(
        [*pip, "--no-build-isolation", "--no-deps", "--no-index", "-w", built, source],
        env=environ,
        check=True,
    )
    (wheel,) = built.glob("*.whl")
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
        archive.extractall(installed)
    static = {"openapi.yaml", "docs.css", "docs.js"} | {f"rules/{name}.md" for name in games.GAMES}
    assert {f"service/static/{name}" for name in static} | {"service/py.typed"} <= names
    assert "service/templates/docs.html" in names
    assert not any(name.startswith("docs/") for name in names)
    script = """if True:
        import games
        from service import app, static_routes
        client = app.create_app({}).test_client()
        assert client.get("/openapi.yaml").data.startswith(b"openapi:")
        assert client.get("/docs").data.startswith(b"<!doctype html>")
        assert client.get("/docs/assets/swagger-ui-bundle.js").status_code == 200
        for name in games.GAMES:
            answer = client.get(f"/docs/rules/{name}.md")
            assert answer.status_code == 200, name
            assert answer.data.startswith(b"#"), name
            assert b"<table>" in client.get(f"/docs/rules/{name}").data, name
        print(static_routes.__file__)
    """
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=installed,
        env={**environ, "PYTHONPATH": str(installed)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith(str(installed))
