"""Private folders of bots, removed by an ordinary user: root may enter every folder."""

import inspect
import os
import subprocess
import sys

import pytest

from tournament.bot.supervisor import homes

CLOSED = """
home, _ = create_home()
os.chdir(home)
os.makedirs("closed/within")
os.makedirs("deep/closed")
os.chdir("deep/closed")
for _ in range(1500):
    os.mkdir("x")
    os.chmod(".", 0o300)
    os.chdir("x")
for folder in ("closed/within", "closed", "deep", "."):
    os.chmod(os.path.join(home, folder), 0)
remove_home(home)
print(os.path.lexists(home))
"""


def test_an_ordinary_user_removes_folders_that_nobody_may_enter() -> None:
    """Closed ones, in a closed home, and 1,500 closed ones within each other."""
    user, python = ("nobody", "/usr/bin/python3") if os.geteuid() == 0 else (None, sys.executable)
    if not os.path.exists(python):
        pytest.skip("a Python that any user may start is needed")
    code = inspect.getsource(homes) + CLOSED
    done = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, check=False, user=user, cwd="/"
    )
    assert done.stdout == "False\n", done.stderr
