"""Build a wheel with compiled rules, and run their tests on it: `make wheel` keeps it in dist/."""

import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from tools.wheel import ROOT, Installed, installed_wheel


def run_tests(installed: Installed) -> int:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    pytest = shlex.split(project["tool"]["cibuildwheel"]["test-command"])
    words = [sys.executable, "-m", *pytest, "-p", "no:cacheprovider"]
    environ = {**os.environ, "PYTHONPATH": str(installed.packages)}
    return subprocess.run(words, cwd=installed.folder, env=environ).returncode


def main(keep_in: Path | None) -> int:
    """Build, test and, if the tests pass, keep the wheel; returns an exit code."""
    with installed_wheel() as installed:
        code = run_tests(installed)
        if code == 0 and keep_in is not None:
            keep_in.mkdir(exist_ok=True)
            shutil.copy(installed.wheel, keep_in)
            print(f"Written to {keep_in / installed.wheel.name}.")
        return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if sys.argv[1:] else None))
