"""The contract, its page, the rules and the health check."""

import re

import pytest
from flask.testing import FlaskClient
from markdown_it import MarkdownIt

import games
from service.problems import PROBLEM_TYPES
from tests.support.service import Service


def test_healthz(service: Service) -> None:
    assert service.get("/healthz") == {"status": "ok"}


PAGES = ["/docs", *(f"/docs/rules/{name}" for name in games.GAMES)]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_loads_only_files_of_this_service(client: FlaskClient, path: str) -> None:
    response = client.get(path)
    page = response.text
    assert (response.status_code, response.mimetype) == (200, "text/html")
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    loaded = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert loaded
    for url in loaded:
        target, _, fragment = url.partition("#")
        answer = client.get(target)
        assert answer.status_code == 200, url
        assert not fragment or f'id="{fragment}"' in answer.text, url
    assert "<script>" not in page
    assert "style=" not in page


def test_other_files_are_not_served(client: FlaskClient) -> None:
    for name in ("swagger-ui.js", "index.html", "..%2fpy.typed", "rules"):
        response = client.get(f"/docs/assets/{name}")
        assert (response.status_code, response.mimetype) == (404, "application/problem+json")


def test_rules_are_pages(client: FlaskClient) -> None:
    for name, game in games.GAMES.items():
        page = client.get(f"/docs/rules/{name}").text
        assert f"<h1>{game.title}" in page
        assert "<table>" in page
        assert "| ---" not in page
    for name in ("whist", "README", "..", "%2e%2e%2fapi", "<b>"):
        for path in (f"/docs/rules/{name}", f"/docs/rules/{name}.md"):
            assert client.get(path).status_code == 404


def test_rules_are_served_where_a_game_says(service: Service, client: FlaskClient) -> None:
    for game in service.get("/v1/games")["games"]:
        response = client.get(game["rules"])
        assert (response.status_code, response.mimetype) == (200, "text/markdown")


def test_every_type_of_problem_is_described_on_the_page(client: FlaskClient) -> None:
    page = client.get("/docs").get_data(as_text=True)
    for code, type_ in PROBLEM_TYPES.items():
        assert f'id="{code}"' in page
        assert str(MarkdownIt().render(type_.description)) in page
    assert client.get("/nowhere").get_json()["type"] == "/docs#not-found"
    assert client.get("/nowhere").headers["Content-Type"] == "application/problem+json"
