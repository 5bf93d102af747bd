"""A copy of the project with games/ compiled by mypyc, to measure and to test.

`python -m benchmarks.compiled --test` builds one and runs tests/games on it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = (".*", "__pycache__", "*.so", "*.egg-info", "build", "node_modules", "runs")


@contextmanager
def compiled_copy() -> Iterator[Path]:
    """A temporary copy of the project with games/ compiled in place.

    Raises RuntimeError with the end of the compiler's output if the build fails.
    """
    with tempfile.TemporaryDirectory(prefix="stich-compiled-") as folder:
        target = Path(folder)
        shutil.copytree(ROOT, target, ignore=shutil.ignore_patterns(*LEFT_OUT), dirs_exist_ok=True)
        built = subprocess.run(
            [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"],
            cwd=target,
            env={**os.environ, "STICH_COMPILE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        if built.returncode:
            raise RuntimeError((built.stdout + built.stderr)[-2000:])
        yield target


def test() -> int:
    """Run tests/games on compiled rules; returns the exit code of pytest."""
    if shutil.which("cc") is None and shutil.which("gcc") is None:
        print("No C compiler found: the compiled build was not tested.")
        return 0
    with compiled_copy() as folder:
        if not list((folder / "games" / "doudizhu").glob("state.*.so")):
            print("The rules were not compiled.")
            return 1
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/games"]
        return subprocess.run(command, cwd=folder, check=False).returncode


if __name__ == "__main__":
    if sys.argv[1:] != ["--test"]:
        sys.exit("Usage: python -m benchmarks.compiled --test")
    sys.exit(test())
