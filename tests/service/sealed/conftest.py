"""A service with two seal keys."""

import pytest
from flask.testing import FlaskClient

from tests.support.service.sealed import KEY, OLD_KEY, application


@pytest.fixture
def client() -> FlaskClient:
    client = application(new=KEY, old=OLD_KEY)
    client.environ_base["HTTP_X_REQUEST_ID"] = "test"  # equal answers name equal requests
    return client
