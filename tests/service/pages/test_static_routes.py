import gzip
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from flask.testing import FlaskClient
from markdown_it import MarkdownIt

import games
from service.problems import PROBLEM_TYPES
from tests.support.service.contract import Service, states
from tools.wheel import ENVIRON, build

PAGES = ["/docs", "/docs/api", "/docs/sealed", *(f"/docs/rules/{name}" for name in games.GAMES)]
STAYING = ["/openapi.yaml", "/openapi.json", "/v1/games", "/v1/games/dasan", "/docs/assets/docs.js"]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_rendered_and_loads_only_our_files(client: FlaskClient, path: str) -> None:
    response = client.get(path)
    page = response.text
    assert (response.status_code, response.mimetype) == (200, "text/html")
    policy = response.headers["Content-Security-Policy"]
    assert ("default-src 'none'" in policy, "unsafe" in policy) == (True, False)
    loaded = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert loaded
    for url in loaded:
        target, _, fragment = url.partition("#")
        answer = client.get(target)
        assert answer.status_code == 200, url
        assert not fragment or f'id="{fragment}"' in answer.text, url
    assert not re.search("<script>|style=|\n: ", page)


def test_rules_are_pages(service: Service, client: FlaskClient) -> None:
    for listed in service.get("/v1/games")["games"]:
        name, title = listed["game"], listed["title"]
        assert client.get(listed["rules"]).mimetype == "text/markdown"
        page = client.get(f"/docs/rules/{name}").text
        assert re.search(f"<h1 id=.*>{title}", page)
        assert "<table>" in page
        assert "| ---" not in page


def test_other_files_are_not_served(client: FlaskClient) -> None:
    assets = ("assets/swagger-ui.js", "assets/index.html", "assets/..%2fpy.typed", "assets/rules")
    rules = [f"rules/{name}" for name in ("whist", "README", "..", "%2e%2e%2fapi", "<b>")]
    for path in [*assets, *rules, *(f"{name}.md" for name in rules)]:
        assert client.get(f"/docs/{path}").status_code == 404


def test_every_type_of_problem_is_described_on_the_page(client: FlaskClient) -> None:
    page = client.get("/docs").get_data(as_text=True)
    for code, type_ in PROBLEM_TYPES.items():
        assert f'id="{code}"' in page
        assert str(MarkdownIt().render(type_.description)) in page
    assert client.get("/nowhere").get_json()["type"] == "/docs#not-found"


def test_long_answers_are_compressed_and_files_have_versions(client: FlaskClient) -> None:
    for path in (*STAYING, "/docs/assets/swagger-ui-bundle.js", "/docs/api"):
        plain = client.get(path)
        for encoding in ("br, gzip", "identity", "gzip;q=0, *"):
            accept = {"Accept-Encoding": encoding}
            full = client.get(path, headers=accept)
            is_packed = "br" in encoding and len(plain.data) > 1000
            assert full.headers.get("Content-Encoding") == ("gzip" if is_packed else None)
            assert (gzip.decompress(full.data) if is_packed else full.data) == plain.data
            if path in STAYING:
                assert "Accept-Encoding" in full.headers["Vary"]
                assert (full.headers["ETag"] == plain.headers["ETag"]) is not is_packed
                again = client.get(path, headers={**accept, "If-None-Match": full.headers["ETag"]})
                assert (again.status_code, again.data) == (304, b"")
                assert again.headers["ETag"] == full.headers["ETag"]
                other = client.get(path, headers={**accept, "If-None-Match": '"other"'})
                assert (other.status_code, other.data) == (200, full.data)


def test_answers_about_a_game_are_compressed_and_not_kept(client: FlaskClient) -> None:
    headers = {"Accept-Encoding": "gzip"}
    body = {"state": states("doudizhu")[-1], "seat": 0}
    plain = client.post("/v1/view", json=body)
    packed = client.post("/v1/view", json=body, headers=headers)
    assert gzip.decompress(packed.data) == plain.data
    assert packed.headers["Content-Length"] == str(len(packed.data))
    short = client.post("/v1/validate", json={**plain.get_json(), "move": "pass"}, headers=headers)
    assert "Content-Encoding" not in short.headers
    for answer in (plain, packed, short):
        assert answer.headers["Cache-Control"] == "no-store"


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
