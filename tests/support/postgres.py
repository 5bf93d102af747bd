"""A PostgreSQL server for the tests, if it is installed."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa


def execute(url: str, *statements: str) -> None:
    """Execute statements in a database, in one transaction."""
    engine = sa.create_engine(url.replace("postgresql", "postgresql+psycopg", 1))
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(sa.text(statement))
    engine.dispose()


@contextmanager
def server() -> Iterator[str]:
    """Run a server, and yield the URL of its database."""
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

    def call(*words: object) -> None:
        no, command = subprocess.DEVNULL, [*map(str, words)]
        subprocess.run(command, check=True, cwd=folder, stdin=no, stdout=no, stderr=no, **user)

    data = folder / "data"
    try:
        call(where / "initdb", "-D", data, "-A", "trust", "-U", name, "--no-sync")
        options = f"-k '{folder}' -c listen_addresses= -c fsync=off"
        call(where / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start")
        try:
            yield f"postgresql://{name}@/postgres?host={folder}"
        finally:
            call(where / "pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)
