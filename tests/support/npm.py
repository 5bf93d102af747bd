"""npm programs that tests use, as listed in their package-lock.json."""

import shutil
import subprocess
from pathlib import Path

import pytest


def installed(source: Path, folder: Path) -> Path:
    """A copy of a folder with its programs installed. Skips the test if they cannot be."""
    if not (shutil.which("npm") and shutil.which("node")):
        pytest.skip("needs Node.js and npm")
    omitted = shutil.ignore_patterns("node_modules")
    shutil.copytree(source, folder, ignore=omitted, dirs_exist_ok=True)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"npm cannot install: {done.stderr.strip().splitlines()[-1:]}")
    return folder
