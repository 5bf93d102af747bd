"""Every command of docs/cluster.md works as copied, with the addresses of this machine."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from stich.processes import find_port
from tests.support.tournament import dask
from tests.support.tournament.cups import ROOT, why_no_sandbox

pytestmark = [pytest.mark.slow, pytest.mark.serial]

PAGE = (ROOT / "docs" / "cluster.md").read_text("utf-8")
READY = {"scheduler": "Scheduler at", "worker": "Registered to"}
SECTIONS = ("One laptop", "Three machines", "Who can reach what")


def fenced(kind: str, title: str = "") -> str:
    """The blocks of this kind in the page, or in a section of it."""
    text = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0] if title else PAGE
    return "".join(re.findall(rf"^```{kind}\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


def typed(lines: str, folder: Path, stack: ExitStack) -> str:
    """Type commands, of which those of Dask go on. What the last other one prints."""
    said, port = "", str(find_port("127.0.0.1", 0))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path}
    here = re.sub(r"10\.0\.0\.\d", "127.0.0.1", lines).replace("8786", port)
    for line in here.splitlines():
        words = shlex.split(line)
        if words[0] == "export":
            env |= dict([words[1].split("=")])
        elif words[0] == "dask":
            running = dask.start(folder, *words[1:], **env)
            stack.callback(running.kill)
            many = int(words[words.index("--nworkers") + 1]) if "--nworkers" in words else 1
            for _ in range(many):
                running.wait_for(READY[words[1]])
        elif words[0] != "pip":
            if words[:2] == ["stich", "run"] and why_no_sandbox():
                words.append("--no-sandbox")
            done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True)
            assert done.returncode == 0, (line, done.stderr)
            said = done.stdout + done.stderr
    return said


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("organiser")
    (made / "cup.toml").write_text(fenced("toml"))
    (made / "dask.yaml").write_text(fenced("yaml"))
    return made


def test_these_sections_have_all_commands() -> None:
    assert "".join(fenced("sh", title) for title in SECTIONS) == fenced("sh")


@pytest.mark.parametrize("title", SECTIONS)
def test_the_commands_of_a_section_work(title: str, folder: Path) -> None:
    commands = fenced("sh", title)
    if "openssl" in commands and shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    with ExitStack() as stack:
        last = typed(commands, folder, stack)
    assert "Spring cup: doudizhu, final" in last
    assert "12 matches" in last
    if title == "Three machines":
        for name in ("red-0", "red-1", "blue-0", "blue-1"):
            assert f"Worker {name} has joined, with 1 table." in last
