"""New stores in SQLite and in PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import postgres
from tournament.store.store import Store


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with postgres.server() as url:
        yield url


@pytest.fixture
def postgresql(server: str) -> str:
    """The URL of an empty database."""
    postgres.execute(server, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    return server


@pytest.fixture(params=["sqlite", "postgresql"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The location of a new store."""
    if request.param == "sqlite":
        return str(tmp_path / "run")
    url: str = request.getfixturevalue("postgresql")
    return url


@pytest.fixture
def store(target: str) -> Iterator[Store]:
    with Store.create(target) as store:
        yield store
