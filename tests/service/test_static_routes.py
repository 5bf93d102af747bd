"""The contract, its page, the rules and the health check."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from service.problems import PROBLEM_TYPES
from tests.service.support import Service


def test_healthz(service: Service) -> None:
    assert service.get("/healthz") == {"status": "ok"}


def test_the_page_needs_nothing_from_elsewhere(client: FlaskClient) -> None:
    response = client.get("/docs")
    page = response.get_data(as_text=True)
    assert response.mimetype == "text/html"
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    for foreign in ("<script", "<link", "<img", "src=", "url(", "@import"):
        assert foreign not in page
    for word in ("POST", "/v1/advance", "DoudizhuState", "invalid-state", "must-follow", "/move"):
        assert word in page
    assert client.get("/docs").data == response.data


def test_links_within_the_page_lead_somewhere(client: FlaskClient) -> None:
    page = client.get("/docs").get_data(as_text=True)
    targets = {piece.split('"')[0] for piece in page.split('href="#')[1:]}
    assert targets
    for target in targets:
        assert f'id="{target}"' in page, target


def test_rules_are_served_where_a_game_says(service: Service, client: FlaskClient) -> None:
    for game in service.get("/v1/games")["games"]:
        response = client.get(game["rules"])
        assert (response.status_code, response.mimetype) == (200, "text/markdown")
    for name in ("whist", "README", "..", "%2e%2e%2fapi"):
        assert client.get(f"/docs/rules/{name}.md").status_code == 404


def test_heads_and_first_columns_of_the_page_stay_on_a_line(client: FlaskClient) -> None:
    assert "th, td:first-child { white-space: nowrap; }" in client.get("/docs").text


@pytest.mark.parametrize("path", ["/v1/games", "/docs", "/openapi.yaml", "/healthz", "/metrics"])
def test_head_is_get_without_a_body(client: FlaskClient, path: str) -> None:
    get, head = client.get(path), client.head(path)
    assert (head.status_code, head.data) == (200, b"")
    assert head.content_type == get.content_type
    if path != "/metrics":
        assert head.content_length == len(get.data)


def test_every_type_of_problem_is_described_on_the_page(client: FlaskClient) -> None:
    page = client.get("/docs").get_data(as_text=True)
    for code in PROBLEM_TYPES:
        assert f'id="{code}"' in page
    assert client.get("/nowhere").json["type"] == "/docs#not-found"  # type: ignore[index]
    assert client.get("/nowhere").headers["Content-Type"] == "application/problem+json"
