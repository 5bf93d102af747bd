"""The programs, commands and files that the pages of the documentation show."""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]


def blocks(page: str, language: str) -> list[str]:
    """The code blocks in this language on a page of the project."""
    text = (ROOT / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(<?([^)>\s]+)")


def links(text: str) -> list[str]:
    """The files that a document links to, as written."""
    named = LINK.findall(FENCED.sub("", text))
    relative = [link for link in named if not re.match(r"[a-z][a-z0-9+.-]*:|#", link)]
    return [unquote(link.partition("#")[0]) for link in relative]


def run_script(script: str, folder: Path) -> str:
    """What the commands of a page print when run in this folder."""
    python = shlex.quote(sys.executable)
    script = re.sub(r"^stich", f"{python} -m stich", script, flags=re.MULTILINE)
    script = re.sub(r'(^|")python3?\b', rf"\1{python}", script, flags=re.MULTILINE)
    environ = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    words = ["sh", "-e", "-c", script]
    done = subprocess.run(words, cwd=folder, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_program(code: str, folder: Path) -> str:
    """What a Python program of a page prints when run in this folder."""
    (folder / "program.py").write_text(code, "utf-8")
    return run_script("python program.py 2>&1", folder)
