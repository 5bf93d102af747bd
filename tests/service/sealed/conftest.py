import pytest
from flask.testing import FlaskClient

from service.app import create_app
from service.settings import Settings
from tests.support.service.sealed import KEY, OLD_KEY


@pytest.fixture
def client() -> FlaskClient:
    client = create_app(Settings(seal_keys={"new": KEY, "old": OLD_KEY})).test_client()
    client.environ_base["HTTP_X_REQUEST_ID"] = "test"  # equal answers name equal requests
    return client
