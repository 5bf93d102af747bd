"""The environment of a started bot, and where its program is."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
"""The folder that holds this project's packages."""


def environment(argv: Sequence[str], port: int) -> dict[str, str]:
    """The environment of a started bot, besides HOME and TMPDIR.

    `python` is this interpreter, and it finds the project's own bots.
    """
    path = os.environ.get("PATH", os.defpath)
    env = {
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "PORT": str(port),
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
    }
    if argv[0] in ("python", "python3"):
        path = os.pathsep.join((os.path.dirname(sys.executable), path))
        if (CHECKOUT / "pyproject.toml").is_file():
            env["PYTHONPATH"] = str(CHECKOUT)
    env["PATH"] = path
    return env


def find_program(argv: Sequence[str], folder: Path) -> str | None:
    """The path of a command's program, as a bot finds it that is started in `folder`; None if there
    is none."""
    name = argv[0]
    if "/" in name:
        return shutil.which(str(folder / name))
    places = environment(argv, 0)["PATH"].split(os.pathsep)
    # A relative entry means a folder in that of the bot.
    return shutil.which(name, path=os.pathsep.join(str(folder / place) for place in places))
