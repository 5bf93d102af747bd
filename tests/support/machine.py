"""The commands of a page of the documentation, run in a folder in place of a machine."""

import os
import re
import shutil
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.programs import Program
from tools import wheel

COMMANDS = re.compile(r"^<!-- run (\w+) -->\n```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def names_commands(page: str) -> bool:
    """Whether every command of a page has a name of its own."""
    named = COMMANDS.findall(page)
    return page.count("```sh") == len(named) == len(dict(named))


def block(page: str, language: str) -> str:
    """The only block of the page in this language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return str(found)


class Machine:
    """A folder in place of a machine: the commands of a page, with `changes` for its paths and
    ports, and `shims` in place of programs."""

    def __init__(
        self, folder: Path, page: str, changes: Mapping[str, str], shims: Mapping[str, str]
    ) -> None:
        self.folder = folder
        self.commands = dict(COMMANDS.findall(page))
        self.ran: set[str] = set()
        self._changes = changes
        bin = folder / "bin"
        bin.mkdir()
        for name, script in shims.items():
            (bin / name).write_text(f"#!/bin/sh\n{script}\n")
            (bin / name).chmod(0o755)
        shutil.copy(wheel.build(folder), folder)
        self._environ = {
            "PATH": f"{bin}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(folder),
            "XDG_STATE_HOME": str(folder / "state"),
            "PYTHONUNBUFFERED": "1",
            "PIP_NO_INDEX": "1",
            "PIP_NO_DEPS": "1",
        }

    def with_ports(self, text: str) -> str:
        """A text of the page with the paths and ports of the test."""
        for found in sorted(self._changes, key=len, reverse=True):
            text = text.replace(found, self._changes[found])
        return text

    def start(
        self, name: str, at: str = "", changes: dict[str, str] | None = None, **more: str
    ) -> Program:
        """Start the commands of a block, in a folder of the machine."""
        self.ran.add(name)
        script = self.with_ports(self.commands[name])
        for found, replacement in (changes or {}).items():
            assert found in script, found
            script = script.replace(found, replacement)
        folder = self.folder / at
        folder.mkdir(exist_ok=True)
        activate = self.folder / "stich" / "bin" / "activate"
        before = f". {activate}\n" if activate.exists() else ""
        environ = {**self._environ, **more}
        return Program(["sh", "-e", "-c", before + script], cwd=folder, env=environ)

    def run(self, name: str, at: str = "", fails: bool = False, **more: Any) -> str:
        """Run the commands of a block to their end; what they write."""
        started = self.start(name, at, **more)
        code = started.end()
        assert (code != 0) is fails, started.text
        return started.text

    @contextmanager
    def started(self, name: str, at: str = "", **more: Any) -> Iterator[Program]:
        """A command that goes on, killed in the end."""
        process = self.start(name, at, **more)
        try:
            yield process
        finally:
            process.kill()


def dependencies(environment: Path) -> None:
    """Let an environment find the packages of this one, in place of downloads."""
    (packages,) = environment.glob("lib/python3*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")


def until(holds: Callable[[], bool]) -> None:
    """Look again and again, as a spectator does."""
    pause = threading.Event()
    while not holds():
        pause.wait(0.2)
