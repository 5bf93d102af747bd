"""A wheel with compiled rules: `make wheel` builds one in dist/ and runs the tests of games/ on it.

`python -m benchmarks.compiled` does so without keeping the wheel. The benchmarks measure an
environment that has nothing but such a wheel.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = (".*", "__pycache__", "*.so", "*.egg-info", "build", "dist", "node_modules", "runs")
TESTED = (
    "tests/games",
    "--ignore=tests/games/test_adding_a_game.py",  # it looks at the files of a checkout
    "tests/bots/test_reference.py",
)


@dataclass(frozen=True, slots=True)
class Installed:
    """A wheel in an environment of its own.

    `python` is that environment's interpreter, `packages` its site-packages; `folder` has the
    benchmarks, tests and pages of rules, but no packages of the checkout.
    """

    wheel: Path
    python: Path
    packages: Path
    folder: Path


def build(target: Path) -> Path:
    """Build a wheel with compiled rules, isolated, from a copy of the checkout; returns its path.

    Raises CalledProcessError if that fails; pip prints why.
    """
    with tempfile.TemporaryDirectory(prefix="stich-wheel-") as folder:
        source = Path(folder, "source")
        shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*LEFT_OUT))
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
        subprocess.run(
            [*pip, "--no-deps", "--wheel-dir", target, source],
            env={**os.environ, "STICH_COMPILE": "1"},
            check=True,
        )
    (wheel,) = target.glob("*.whl")
    return wheel


@contextmanager
def installed_wheel() -> Iterator[Installed]:
    """A new wheel with compiled rules, installed without dependencies in a fresh environment."""
    with tempfile.TemporaryDirectory(prefix="stich-compiled-") as place:
        wheel = build(Path(place, "wheel"))
        environment, folder = Path(place, "environment"), Path(place, "folder")
        venv.create(environment)
        python = environment / "bin" / "python"
        pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", wheel], check=True)
        (packages,) = environment.glob("lib/python*/site-packages")
        folder.mkdir()
        for name in ("benchmarks", "tests", "docs", "pyproject.toml"):
            (folder / name).symlink_to(ROOT / name)
        yield Installed(wheel, python, packages, folder)


def test(installed: Installed) -> int:
    """Run the tests of the rules on the wheel; returns the exit code of pytest."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTED],
        cwd=installed.folder,
        env={**os.environ, "PYTHONPATH": str(installed.packages)},
        check=False,
    ).returncode


def main(keep_in: Path | None) -> int:
    """Build, test and, if the tests pass, keep the wheel; returns an exit code."""
    with installed_wheel() as installed:
        code = test(installed)
        if code == 0 and keep_in is not None:
            keep_in.mkdir(exist_ok=True)
            shutil.copy(installed.wheel, keep_in)
            print(f"Written to {keep_in / installed.wheel.name}.")
        return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if sys.argv[1:] else None))
