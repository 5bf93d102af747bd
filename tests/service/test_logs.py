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


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_request_is_one_line(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(Settings.from_environ({"STICH_LOG_FORMAT": form}))
    logs.log_request(environ("/v1/\nforged line"), 404, 0.0015)
    (line,) = capsys.readouterr().err.splitlines()
    if form == "text":
        assert line.endswith(r"192.0.2.7 GET /v1/\nforged line 404 1.500 ms id-1")
        return
    about = {"logger": "service.access", "level": "info", "status": 404, "request_id": "id-1"}
    assert json.loads(line).items() >= {**about, "path": r"/v1/\nforged line"}.items()


def test_an_error_has_its_trace_and_its_request(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(Settings.from_environ({"STICH_LOG_FORMAT": "json"}))
    try:
        raise RuntimeError("no\nsecret")
    except RuntimeError as error:
        logs.log_error(error, environ("/"))
    (line,) = capsys.readouterr().err.splitlines()
    entry = json.loads(line)
    assert entry["request_id"] == "id-1"
    assert entry["trace"].endswith("RuntimeError: no\nsecret")
