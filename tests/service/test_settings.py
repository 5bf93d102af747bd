"""Settings by environment."""

import pytest

from service.app import create_app
from service.settings import ConfigError, Settings


def test_settings_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STICH_MAX_BODY", "10")
    small = create_app().test_client()
    assert small.post("/v1/start", json={"game": "dasan"}).status_code == 413
    larger = create_app(Settings(max_body=100)).test_client()
    assert larger.post("/v1/start", json={"game": "dasan"}).status_code == 200


@pytest.mark.parametrize(
    ("name", "value"),
    [("STICH_MAX_BODY", "0"), ("STICH_LOG_FORMAT", "xml"), ("STICH_ACCESS_LOG", "yes")],
)
def test_an_invalid_setting_is_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name):
        Settings.from_environ({name: value})
