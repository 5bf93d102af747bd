import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tools.wheel import ENVIRON, build


@pytest.mark.slow
def test_a_wheel_has_the_static_files_and_serves_them(tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    wheel = build(tmp_path)
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
        archive.extractall(installed)
    assert "service/py.typed" in names
    assert not any(name.startswith("docs/") for name in names)
    script = """if True:
        import games
        from service import app
        client = app.create_app().test_client()
        for name in ("openapi.yaml", "docs", "docs/api", "docs/sealed", "docs/assets/docs.css",
                     "docs/assets/docs.js", "docs/assets/swagger-ui-bundle.js"):
            assert client.get("/" + name).status_code == 200, name
        for name in games.GAMES:
            assert client.get(f"/docs/rules/{name}.md").data.startswith(b"#"), name
            assert b"<table>" in client.get(f"/docs/rules/{name}").data, name
        print(app.__file__)
    """
    environ = {**ENVIRON, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=installed, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(installed))
