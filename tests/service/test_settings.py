"""Settings by environment and by `create_app(config)`."""

from __future__ import annotations

from typing import Any

import pytest

from service.app import create_app
from service.settings import ConfigError


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
        ({"log_format": "xml"}, "STICH_LOG_FORMAT"),
        ({"access_log": "yes"}, "STICH_ACCESS_LOG"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_an_invalid_setting_is_refused(config: dict[str, Any], word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        create_app(config)
