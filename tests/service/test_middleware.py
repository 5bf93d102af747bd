"""CORS headers, metrics, and what HTTP clients expect from any path."""

import pytest
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families

from tests.support.service import Service

ORIGIN = {"Origin": "https://example.org"}
METHOD = "Access-Control-Request-Method"
PREFLIGHT = {**ORIGIN, METHOD: "POST", "Access-Control-Request-Headers": "Content-Type"}


def test_any_page_may_read_any_response(client: FlaskClient) -> None:
    for method, path, status in (
        ("HEAD", "/v1/games", 200),
        ("GET", "/openapi.yaml", 200),
        ("GET", "/nowhere", 404),
        ("GET", "/v1/start", 405),
        ("POST", "/v1/start", 415),
    ):
        response = client.open(path, method=method, headers=ORIGIN)
        assert response.status_code == status
        assert response.headers.getlist("Access-Control-Allow-Origin") == ["*"]
        assert response.headers["Access-Control-Expose-Headers"] == "Retry-After, X-Request-Id"


def test_preflight(client: FlaskClient) -> None:
    response = client.options("/v1/start", headers=PREFLIGHT)
    assert response.status_code == 200
    assert "POST" in response.headers["Access-Control-Allow-Methods"]
    assert response.headers["Access-Control-Allow-Headers"].lower() == "content-type"
    assert int(response.headers["Access-Control-Max-Age"]) > 0
    for headers in ({}, ORIGIN, {**PREFLIGHT, METHOD: "PUT"}):  # of other requests
        response = client.options("/v1/start", headers=headers)
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        assert (response.data, response.headers.get("Content-Type")) == (b"", None)
        assert "Access-Control-Allow-Methods" not in response.headers
        assert "Access-Control-Max-Age" not in response.headers


def test_a_trailing_slash_is_ignored(service: Service, client: FlaskClient) -> None:
    assert client.get("/v1/games/").json == service.get("/v1/games")


@pytest.mark.parametrize("host", ["", "a b", "[::1", "x" * 5000, "é"])
def test_odd_hosts_do_no_harm(client: FlaskClient, host: str) -> None:
    assert client.get("/healthz", headers={"Host": host}).status_code in (200, 400)


def test_metrics_of_one_process(service: Service) -> None:
    client = service.client
    for _ in range(3):
        service.get("/v1/games")
    service.get("/v1/games/dasan")
    service.get("/v1/games/whist")
    service.post("/v1/moves", {})
    client.open("/v1/moves", method="MADEUP")
    client.open("/v1/moves", method="MADEUP2")
    samples = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(client.get("/metrics").get_data(as_text=True))
        for sample in family.samples
    }

    def requests(method: str, route: str, status: str) -> float:
        labels = (("method", method), ("route", route), ("status", status))
        return samples["stich_http_requests_total", labels]

    assert requests("GET", "/v1/games", "200") == 3
    assert requests("GET", "/v1/games/<name>", "200") == 1
    assert requests("GET", "/v1/games/<name>", "404") == 1
    assert requests("POST", "/v1/moves", "422") == 1
    assert requests("other", "none", "405") == 2
    problems = {labels: value for (name, labels), value in samples.items() if "problems_t" in name}
    assert problems[("code", "invalid-request"), ("route", "/v1/moves")] == 1
    assert problems[("code", "method-not-allowed"), ("route", "none")] == 2
