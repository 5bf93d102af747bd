"""Debian's nginx, run by tests without root."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

NGINX = shutil.which("nginx")
needs_nginx = pytest.mark.skipif(NGINX is None, reason="needs nginx: apt install nginx-light")


def with_folder(text: str, folder: Path) -> str:
    """Change the configuration of a whole machine so that all its files are in a folder."""
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "\n".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    for line, replacement in {
        "user www-data;": "user root;",
        "/run/nginx.pid": f"{folder}/nginx.pid",
        "/var/log/nginx": str(folder),
        "http {\n": f"http {{\n{temporary}\n",
    }.items():
        assert line in text, line
        text = text.replace(line, replacement)
    return text


def command(folder: Path, path: Path) -> list[str]:
    assert NGINX
    return [NGINX, "-e", str(folder / "error.log"), "-p", str(folder), "-c", str(path)]


@contextmanager
def running(words: list[str]) -> Iterator[None]:
    checked = subprocess.run([*words, "-t"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    subprocess.run(words, check=True, capture_output=True)  # returns once it listens
    try:
        yield
    finally:
        subprocess.run([*words, "-s", "stop"], check=True, capture_output=True)
