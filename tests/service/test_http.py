"""What browsers and other clients of HTTP expect."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from service import create_app
from service.settings import ConfigError
from tests.service.support import Service

ORIGIN = {"Origin": "https://example.org"}
PREFLIGHT = {
    **ORIGIN,
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "Content-Type",
}


@pytest.mark.parametrize("headers", [{}, ORIGIN])
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/games", 200),
        ("HEAD", "/v1/games", 200),
        ("GET", "/healthz", 200),
        ("GET", "/openapi.yaml", 200),
        ("GET", "/nowhere", 404),
        ("GET", "/v1/start", 405),
        ("POST", "/v1/start", 415),
    ],
)
def test_any_page_may_read_any_answer(
    client: FlaskClient, headers: dict[str, str], method: str, path: str, status: int
) -> None:
    response = client.open(path, method=method, headers=headers)
    assert response.status_code == status
    assert response.headers.getlist("Access-Control-Allow-Origin") == ["*"]


def test_problems_of_a_body_can_be_read_by_any_page(client: FlaskClient) -> None:
    for body, status in ((b"{", 400), (b"{}", 422), (b" " * 2_000_000, 413)):
        response = client.post("/v1/start", data=body, headers=ORIGIN, mimetype="application/json")
        assert response.status_code == status
        assert response.headers.getlist("Access-Control-Allow-Origin") == ["*"]


def test_a_failure_can_be_read_by_any_page() -> None:
    app = create_app({})

    @app.get("/broken")
    def broken() -> str:
        raise RuntimeError

    response = app.test_client().get("/broken", headers=ORIGIN)
    assert response.status_code == 500
    assert response.headers["Access-Control-Allow-Origin"] == "*"


def test_preflight(client: FlaskClient) -> None:
    response = client.options("/v1/start", headers=PREFLIGHT)
    assert response.status_code == 200
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert "POST" in response.headers["Access-Control-Allow-Methods"]
    assert response.headers["Access-Control-Allow-Headers"].lower() == "content-type"
    assert int(response.headers["Access-Control-Max-Age"]) > 0


def test_named_origins_only() -> None:
    client = create_app(
        {"cors_origins": "https://example.org, https://other.example"}
    ).test_client()
    response = client.get("/v1/games", headers=ORIGIN)
    assert response.headers["Access-Control-Allow-Origin"] == "https://example.org"
    assert "Origin" in response.headers["Vary"]
    stranger = client.get("/v1/games", headers={"Origin": "https://stranger.example"})
    assert "Access-Control-Allow-Origin" not in stranger.headers
    nobody = client.get("/v1/games")
    refused = client.get("/v1/nope")
    preflight = client.options("/v1/start", headers={**PREFLIGHT, **ORIGIN})
    for answer in (response, stranger, nobody, refused, preflight):
        assert answer.headers.get_all("Vary") == ["Origin"]


def test_answers_that_are_the_same_for_all_origins_do_not_vary(client: FlaskClient) -> None:
    assert "Vary" not in client.get("/v1/games", headers=ORIGIN).headers


def test_heads_and_first_columns_of_the_page_stay_on_a_line(client: FlaskClient) -> None:
    assert "th, td:first-child { white-space: nowrap; }" in client.get("/docs").text


@pytest.mark.parametrize("path", ["/v1/games", "/docs", "/openapi.yaml", "/healthz", "/metrics"])
def test_head_is_get_without_a_body(client: FlaskClient, path: str) -> None:
    get, head = client.get(path), client.head(path)
    assert (head.status_code, head.data) == (200, b"")
    assert head.content_type == get.content_type
    if path != "/metrics":
        assert head.content_length == len(get.data)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/v1/games", {"GET", "HEAD", "OPTIONS"}), ("/v1/moves", {"POST", "OPTIONS"})],
)
def test_options_without_an_origin(client: FlaskClient, path: str, allowed: set[str]) -> None:
    response = client.options(path)
    assert response.status_code == 200
    assert {word.strip() for word in response.headers["Allow"].split(",")} == allowed


def test_a_slash_too_many_at_the_end_does_not_matter(service: Service, client: FlaskClient) -> None:
    assert client.get("/v1/games/").json == service.get("/v1/games")


def test_a_query_is_passed_over(service: Service, client: FlaskClient) -> None:
    assert client.get("/v1/games?page=2").json == service.get("/v1/games")


@pytest.mark.parametrize("host", ["", "a b", "[::1", "x" * 5000, "é"])
def test_odd_hosts_do_no_harm(client: FlaskClient, host: str) -> None:
    assert client.get("/healthz", headers={"Host": host}).status_code in (200, 400)


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


def test_settings_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STICH_MAX_BODY", "10")
    small = create_app().test_client()
    assert small.post("/v1/start", json={"game": "dasan"}).status_code == 413
    larger = create_app({"max_body": 100}).test_client()
    assert larger.post("/v1/start", json={"game": "dasan"}).status_code == 200


@pytest.mark.parametrize(
    ("config", "word"),
    [
        ({"max_body": "much"}, "STICH_MAX_BODY"),
        ({"max_body": 0}, "STICH_MAX_BODY"),
        ({"cors_origins": "example.org"}, "STICH_CORS_ORIGINS"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_setting_that_cannot_be(config: dict[str, Any], word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        create_app(config)
