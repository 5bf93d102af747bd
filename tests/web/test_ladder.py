"""docs/ladder.md from its first command to its last: an installed wheel, three authors, one of whom
enters a new version and one of whom leaves, and an arena that is killed."""

import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import requests

from stich.processes import find_port
from tests.support.machine import Machine, dependencies, names_commands, until
from tests.support.pages import blocks
from tests.support.service.contract import ROOT
from tournament.records import FaultKind, Join
from tournament.store.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.serial]

PAGE = (ROOT / "docs" / "ladder.md").read_text("utf-8")


def test_every_command_of_the_ladder_page_works(tmp_path: Path) -> None:
    assert names_commands(PAGE)
    port, connect_port, bob_port = (find_port("127.0.0.1", 0) for _ in range(3))
    url = f"http://127.0.0.1:{port}"
    changes = {
        "--host 0.0.0.0 --port 8000": f"--port {port} --connect-port {connect_port}",
        "http://arena.example:8000": url,
        "9000": str(bob_port),
    }
    machine = Machine(tmp_path, PAGE, changes, {})
    with ExitStack() as stack:
        machine.run("install")
        dependencies(tmp_path / "stich")
        (tmp_path / "autumn.toml").write_text(blocks("docs/ladder.md", "toml")[0])

        def get(path: str) -> str:
            return requests.get(url + path, timeout=60).text

        def matches_of(bot: str) -> int:
            matches = re.search(r"<dt>Matches</dt><dd>(\d+)", get(f"/bots/{bot}"))
            return int(matches[1]) if matches else 0

        def home(author: str) -> dict[str, Any]:
            return {"HOME": str(tmp_path / author), "XDG_STATE_HOME": str(tmp_path / author)}

        arena = stack.enter_context(machine.started("arena"))
        arena.wait_for("Pages at ")
        until(lambda: "Anybody may join." in get("/join"))
        served = re.search(r"pip install (\S+\.whl)", get("/join"))
        assert served
        unpacked = tmp_path / "unpacked"
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index"]
        subprocess.run([*pip, "--target", unpacked, served[1]], check=True)
        assert (unpacked / "games" / "doudizhu" / "state.py").exists()
        static = Path("web/ui/static")
        assert len([*(unpacked / static).iterdir()]) == len([*(ROOT / static).iterdir()])
        programs = {}
        for name in ("ann", "bob", "cat"):
            machine.run("bot", name)
            program = stack.enter_context(machine.started(name, name, **home(name)))
            program.wait_for("Connected to Autumn ladder as ")
            programs[name] = program
        assert f"its page is {url}/bots/ann" in programs["ann"].text
        until(lambda: all(map(matches_of, ("ann", "bob", "cat"))))

        verdict = machine.run("challenge", "ann", **home("ann"))
        assert "ann" in verdict
        assert "cat" in verdict

        arena.kill()
        arena = stack.enter_context(machine.started("arena"))
        arena.wait_for("Pages at ")
        programs["ann"].wait_for("Connected again.")
        before = matches_of("ann")
        until(lambda: matches_of("ann") > before)

        assert re.fullmatch(
            "[0-9a-f]{64}\n", machine.run("token", "ann", **home("ann")).splitlines(True)[-1]
        )
        newer = stack.enter_context(machine.started("version", "ann", **home("ann")))
        newer.wait_for("Connected to Autumn ladder as ann/2.")
        programs["ann"].wait_for("ann has left.")
        until(lambda: matches_of("ann/2") > 0)
        assert 'href="/bots/ann/2"' in get("/bots/ann")

        bot = tmp_path / "ann" / "my-bot" / "bot.py"
        bot.write_text(bot.read_text().replace('version="0.1"', 'version="0.2"'))
        newest = stack.enter_context(machine.started("ann", "ann", **home("ann")))
        newest.wait_for("Connected to Autumn ladder as ann/3.")
        newer.wait_for("ann/2 has left.")
        until(lambda: matches_of("ann/3") > 0)
        assert "bob no longer plays" in machine.run("leave", "bob", **home("bob"))
        programs["bob"].wait_for("bob has left.")

        machine.run("finish")
        arena.wait_for("The run is over; the pages stay until Ctrl-C.")
        assert [program.end() for program in (newest, newer, *programs.values())] == [0] * 5
        assert "The ladder is over." in get("/join")
        verified = machine.run("verify")
        assert "ann/2" in verified
    assert machine.ran == set(machine.commands)
    with Store.open(tmp_path / "runs" / "autumn") as store:
        matches = [match.match for match in store.matches()]
        joined = [decision.bot for decision in store.decisions() if isinstance(decision, Join)]
        # A table that has begun is finished without a bot that has gone.
        assert {fault.kind for match in store.matches() for fault in match.faults} <= {
            FaultKind.UNREACHABLE
        }
    assert len(matches) == len(set(matches))
    assert joined == ["ann", "bob", "cat", "ann/2", "ann/3"]
