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
    """Whether every block of commands in a page has a name of its own."""
    named = COMMANDS.findall(page)
    return page.count("```sh") == len(named) == len(dict(named))


class Machine:
    """A folder in place of a machine: `changes` replaces paths and ports, and `shims` programs."""

    def __init__(
        self, folder: Path, page: str, changes: Mapping[str, str], shims: Mapping[str, str]
    ) -> None:
        self.folder = folder
        self.commands = dict(COMMANDS.findall(page))
        self.ran: set[str] = set()
        self._changes = sorted(changes.items(), key=lambda change: len(change[0]), reverse=True)
        bin = folder / "bin"
        bin.mkdir()
        for name, script in shims.items():
            (bin / name).write_text(f"#!/bin/sh\n{script}\n")
            (bin / name).chmod(0o755)
        shutil.copy(wheel.build(folder), folder)
        path = f"{bin}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        self._environ = {"PATH": path, "HOME": str(folder), "XDG_STATE_HOME": f"{folder}/state"}
        self._environ |= dict.fromkeys(("PYTHONUNBUFFERED", "PIP_NO_INDEX", "PIP_NO_DEPS"), "1")

    def with_ports(self, text: str) -> str:
        """A text from the page with the paths and ports of the test, longest first."""
        for old, new in self._changes:
            text = text.replace(old, new)
        return text

    def start(
        self, name: str, at: str = "", changes: Mapping[str, str] | None = None, **environ: str
    ) -> Program:
        self.ran.add(name)
        script = self.with_ports(self.commands[name])
        for old, new in (changes or {}).items():
            assert old in script, old
            script = script.replace(old, new)
        folder = self.folder / at
        folder.mkdir(exist_ok=True)
        activate = self.folder / "stich" / "bin" / "activate"
        if activate.exists():
            script = f". {activate}\n{script}"
        return Program(["sh", "-e", "-c", script], cwd=folder, env={**self._environ, **environ})

    def run(self, name: str, at: str = "", **options: Any) -> str:
        program = self.start(name, at, **options)
        assert program.end() == 0, program.text
        return program.text

    @contextmanager
    def started(self, name: str, at: str = "", **options: Any) -> Iterator[Program]:
        program = self.start(name, at, **options)
        try:
            yield program
        finally:
            program.kill()


def dependencies(environment: Path) -> None:
    """Let an environment find the packages of this one, instead of downloading them."""
    (packages,) = environment.glob("lib/python3*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")


def until(holds: Callable[[], bool]) -> None:
    while not holds():
        threading.Event().wait(0.2)
