import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tournament.store.store import Store


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    program = shutil.which("pg_ctl")
    if program is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    where = Path(program).resolve().parent
    user: dict[str, Any] = {}
    name = pwd.getpwuid(os.geteuid()).pw_name
    folder = Path(tempfile.mkdtemp(prefix="stich-postgres-"))
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        name = "postgres"
        user = {"user": name, "group": pwd.getpwnam(name).pw_gid, "extra_groups": []}
        shutil.chown(folder, name)

    def call(program: str, *words: object) -> None:
        no = subprocess.DEVNULL
        command = [str(where / program), "-D", str(folder / "data"), *map(str, words)]
        subprocess.run(command, check=True, cwd=folder, stdin=no, stdout=no, stderr=no, **user)

    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder)
        call("initdb", "-A", "trust", "-U", name, "--no-sync")
        options = f"-k '{folder}' -c listen_addresses= -c fsync=off"
        call("pg_ctl", "-w", "-l", folder / "log", "-o", options, "start")
        stack.callback(call, "pg_ctl", "-m", "immediate", "stop")
        yield f"postgresql://{name}@/postgres?host={folder}"


def execute(url: str, statements: str) -> None:
    engine = sa.create_engine(url.replace("postgresql", "postgresql+psycopg", 1))
    with engine.begin() as connection:
        connection.execute(sa.text(statements))
    engine.dispose()


@pytest.fixture
def postgresql(server: str) -> str:
    execute(server, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return server


@pytest.fixture
def end_connections(postgresql: str) -> Callable[[], None]:
    # Within a minute: without a time, it would not wait until they have ended.
    ends = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
    other = "pid <> pg_backend_pid() AND datname IS NOT NULL"
    return lambda: execute(postgresql, f"{ends} WHERE {other}")


@pytest.fixture(params=["sqlite", "postgresql"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "run")
    url: str = request.getfixturevalue("postgresql")
    return url


@pytest.fixture
def store(target: str) -> Iterator[Store]:
    with Store.create(target) as store:
        yield store
