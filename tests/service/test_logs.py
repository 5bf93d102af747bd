"""The logs of the service: one line per request, whatever a client writes, as text or JSON."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from werkzeug.test import EnvironBuilder

from service import logs
from service.settings import Settings

NAMES = ("service", "_granian")


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
