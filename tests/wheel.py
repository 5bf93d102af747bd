"""A wheel of these sources, in pure Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.service.support import ROOT

PARTS = ("games", "service", "tournament", "bots", "arena", "stich", "docs/rules")
FILES = ("openapi.yaml", "pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE")
ENVIRON = {name: value for name, value in os.environ.items() if name != "STICH_COMPILE"}


def build(folder: Path) -> Path:
    """Build a wheel in a folder, from a copy of the sources."""
    source, built = folder / "source", folder / "built"
    ignored = shutil.ignore_patterns("__pycache__", "node_modules", "*.so", "build")
    for part in PARTS:
        shutil.copytree(ROOT / part, source / part, ignore=ignored)
    for name in FILES:
        shutil.copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
    subprocess.run(
        [*pip, "--no-build-isolation", "--no-deps", "--no-index", "-w", built, source],
        env=ENVIRON,
        check=True,
    )
    (wheel,) = built.glob("*.whl")
    return wheel
