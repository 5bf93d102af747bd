import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import EnvironBuilder

from service import logs
from service.settings import Settings
from tests.support.service.contract import Service

ORIGIN = {"Origin": "https://example.org"}
METHOD = "Access-Control-Request-Method"
PREFLIGHT = {**ORIGIN, METHOD: "POST", "Access-Control-Request-Headers": "Content-Type"}
NAMES = ("service", "_granian")


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
    allowed = response.headers
    assert (response.status_code, "POST" in allowed["Access-Control-Allow-Methods"]) == (200, True)
    assert allowed["Access-Control-Allow-Headers"].lower() == "content-type"
    assert int(allowed["Access-Control-Max-Age"]) > 0
    for headers in ({}, ORIGIN, {**PREFLIGHT, METHOD: "PUT"}):  # of other requests
        response = client.options("/v1/start", headers=headers)
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        assert (response.data, response.headers.get("Content-Type")) == (b"", None)
        assert "Access-Control-Allow-Methods" not in response.headers
        assert "Access-Control-Max-Age" not in response.headers


@pytest.mark.parametrize("host", ["", "a b", "[::1", "x" * 5000, "é"])
def test_odd_hosts_do_no_harm(client: FlaskClient, host: str) -> None:
    assert client.get("/healthz", headers={"Host": host}).status_code in (200, 400)


def test_metrics_of_one_process(service: Service) -> None:
    client = service.client
    for path in (*["/v1/games"] * 3, "/v1/games/dasan", "/v1/games/whist"):
        service.get(path)
    service.post("/v1/moves", {})
    for method in ("MADEUP", "MADEUP2"):
        client.open("/v1/moves", method=method)
    counted = set(client.get("/metrics").text.splitlines())
    assert counted >= {
        'stich_http_requests_total{method="GET",route="/v1/games",status="200"} 3.0',
        'stich_http_requests_total{method="GET",route="/v1/games/<name>",status="200"} 1.0',
        'stich_http_requests_total{method="GET",route="/v1/games/<name>",status="404"} 1.0',
        'stich_http_requests_total{method="POST",route="/v1/moves",status="422"} 1.0',
        'stich_http_requests_total{method="other",route="none",status="405"} 2.0',
        'stich_problems_total{code="invalid-request",route="/v1/moves"} 1.0',
        'stich_problems_total{code="method-not-allowed",route="none"} 2.0',
    }


@pytest.fixture(autouse=True)
def loggers_as_before() -> Iterator[None]:
    """Restore the loggers of the process, which `configure` changes."""
    saved = [(log, log.handlers, log.propagate, log.level) for log in map(logging.getLogger, NAMES)]
    yield
    for log, handlers, propagate, level in saved:
        log.handlers, log.propagate = handlers, propagate
        log.setLevel(level)


def environ(path: str) -> Any:
    made = EnvironBuilder(environ_base={"REMOTE_ADDR": "192.0.2.7"}).get_environ()
    return {**made, "PATH_INFO": path, logs.REQUEST_ID: "id-1"}


def test_a_request_and_an_error_are_one_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        raise RuntimeError("no\nsecret")
    except RuntimeError as caught:
        error = caught
    lines = {}
    for form in ("text", "json"):
        logs.configure(Settings.from_environ({"STICH_LOG_FORMAT": form}))
        logs.log_request(environ("/v1/\nforged line"), 404, 0.0015)
        lines[form] = capsys.readouterr().err.splitlines()
    assert lines["text"][0].endswith(r"192.0.2.7 GET /v1/\nforged line 404 1.500 ms id-1")
    logs.log_error(error, environ("/"))
    (request,), (entry,) = lines["json"], capsys.readouterr().err.splitlines()
    about = {"logger": "service.access", "level": "info", "status": 404, "request_id": "id-1"}
    assert json.loads(request).items() >= {**about, "path": r"/v1/\nforged line"}.items()
    assert json.loads(entry)["request_id"] == "id-1"
    assert json.loads(entry)["trace"].endswith("RuntimeError: no\nsecret")
