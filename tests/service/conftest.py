"""What the service's tests share."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.app import create_app
from tests.support.running import Running
from tests.support.sealed import SEAL_KEYS
from tests.support.service import Service


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


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """`stich serve` in a separate process."""
    with Running(STICH_SEAL_KEYS=SEAL_KEYS) as service:
        yield service
