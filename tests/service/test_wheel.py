"""A wheel has the files that the service serves."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

import games
from tools.wheel import ENVIRON, build


@pytest.mark.slow
def test_a_wheel_has_the_static_files_and_serves_them(tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    wheel = build(tmp_path)
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
        archive.extractall(installed)
    static = {"openapi.yaml", "docs.css", "docs.js", "api.md", "sealed.md"} | {
        f"rules/{name}.md" for name in games.GAMES
    }
    assert {f"service/static/{name}" for name in static} | {"service/py.typed"} <= names
    assert "service/templates/docs.html" in names
    assert not any(name.startswith("docs/") for name in names)
    script = """if True:
        import games
        from service import app, static_routes
        client = app.create_app().test_client()
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
        env={**ENVIRON, "PYTHONPATH": str(installed)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith(str(installed))
