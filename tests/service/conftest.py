import pytest
from flask.testing import FlaskClient

from service.app import create_app
from tests.support.service.contract import Service
from tests.support.service.running import running as running


@pytest.fixture
def client() -> FlaskClient:
    return create_app().test_client()


@pytest.fixture
def service(client: FlaskClient) -> Service:
    """A client that checks every response against the contract."""
    return Service(client)
