"""What the service's tests share."""

from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.app import create_app
from tests.support.service.contract import Service
from tests.support.service.running import running as running


class Client(FlaskClient):
    """A test client that closes the files from which answers are sent."""

    def open(self, *args: Any, **kwargs: Any) -> TestResponse:
        """Send a request, and return the answer."""
        return super().open(*args, **{"buffered": True, **kwargs})


@pytest.fixture
def client() -> FlaskClient:
    """A bare client of a fresh application."""
    app = create_app()
    app.test_client_class = Client
    return app.test_client()


@pytest.fixture
def service(client: FlaskClient) -> Service:
    """A client that checks every response against the contract."""
    return Service(client)
