"""Tables that are made on first use are whole, whichever thread comes first."""

from __future__ import annotations

import subprocess
import sys

import pytest

import games

PROGRAM = """
import sys, threading
sys.setswitchinterval(1e-6)
for _ in range(8):
    for name in [name for name in sys.modules if name.partition(".")[0] == "games"]:
        del sys.modules[name]
    import games
    state = games.get("doudizhu").start(3, "threads", {}).advance("bid:3")
    meeting, found = threading.Barrier(8), []
    def list_moves():
        meeting.wait()
        found.append(state.moves().texts())
    threads = [threading.Thread(target=list_moves) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [state.moves().texts()] * 8
"""


@pytest.mark.skipif(games.COMPILED, reason="compiled rules are not interrupted")
def test_the_first_moves_of_a_process_are_listed_by_several_threads() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
