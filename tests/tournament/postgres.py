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


def programs() -> Path | None:
    """The folder of initdb and pg_ctl."""
    found = shutil.which("pg_ctl")
    return Path(found).resolve().parent if found else None


@contextmanager
def server(where: Path) -> Iterator[str]:
    """Run a server; yields the URL of its database. PostgreSQL refuses to run as root."""
    user: dict[str, Any] = {}
    name = pwd.getpwuid(os.geteuid()).pw_name
    folder = Path(tempfile.mkdtemp(prefix="stich-postgres-"))
    if os.geteuid() == 0:
        name = "postgres"
        user = {"user": name, "group": pwd.getpwnam(name).pw_gid, "extra_groups": []}
        shutil.chown(folder, name)

    def call(*words: object) -> None:
        with open(os.devnull, "rb+") as nothing:
            subprocess.run(
                list(map(str, words)),
                check=True,
                cwd=folder,
                stdin=nothing,
                stdout=nothing,
                stderr=nothing,
                **user,
            )

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
