"""Wheels of these sources, in pure Python or with compiled rules, and installed wheels.

The module imports only the standard library: benchmarks use it where nothing else is installed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("games", "learning", "serving", "service", "tournament", "bots", "web", "stich")
DOCS = ("openapi.yaml", "docs/api.md", "docs/sealed.md", "README.md", "LICENSE")
BUILD = ("pyproject.toml", "setup.py", "MANIFEST.in")
ENVIRON = {name: value for name, value in os.environ.items() if name != "STICH_COMPILE"}


@dataclass(frozen=True, slots=True)
class Installed:
    """A wheel, installed in a separate environment.

    `python` is the environment's interpreter, and `packages` its site-packages. `folder` has the
    benchmarks, tests, tools and pages of rules, but no packages of the checkout.
    """

    wheel: Path
    python: Path
    packages: Path
    folder: Path


def build(folder: Path) -> Path:
    """Build a wheel in pure Python in a folder, without downloads. Return its path.

    Raises:
        CalledProcessError: if the build fails.
    """
    return _build(folder, ENVIRON, "--no-build-isolation", "--no-index")


def build_compiled(folder: Path) -> Path:
    """Build a wheel with compiled rules in a folder. Return its path. Pip downloads the compiler.

    Raises:
        CalledProcessError: if the build fails.
    """
    return _build(folder, {**ENVIRON, "STICH_COMPILE": "1"})


def _build(folder: Path, environ: Mapping[str, str], *options: str) -> Path:
    """Build a wheel from a copy of the sources. Return its path."""
    source, built = folder / "source", folder / "built"
    ignored = shutil.ignore_patterns("__pycache__", "node_modules", "*.so", "build")
    for part in (*PACKAGES, "docs/rules"):
        shutil.copytree(ROOT / part, source / part, ignore=ignored)
    for name in (*DOCS, *BUILD):
        shutil.copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
    subprocess.run([*pip, *options, "--no-deps", "-w", built, source], env=environ, check=True)
    (wheel,) = built.glob("*.whl")
    return wheel


@contextmanager
def installed_wheel() -> Iterator[Installed]:
    """Yield a new wheel with compiled rules, installed without dependencies until the block ends.

    Raises:
        CalledProcessError: if the wheel cannot be built or installed.
    """
    with tempfile.TemporaryDirectory(prefix="stich-wheel-") as place:
        wheel = build_compiled(Path(place))
        environment, folder = Path(place, "environment"), Path(place, "folder")
        venv.create(environment)
        python = environment / "bin" / "python"
        pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", wheel], check=True)
        (packages,) = environment.glob("lib/python*/site-packages")
        folder.mkdir()
        for name in ("benchmarks", "tests", "tools", "docs", "pyproject.toml"):
            (folder / name).symlink_to(ROOT / name)
        yield Installed(wheel, python, packages, folder)
