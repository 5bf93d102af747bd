"""What the service's tests share."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from service.app import create_app
from tests.service.support import Service


@pytest.fixture
def client() -> FlaskClient:
    """A bare client of a fresh application."""
    return create_app({}).test_client()


@pytest.fixture
def service(client: FlaskClient) -> Service:
    """A client that checks every response against the contract."""
    return Service(client)
