"""A season of a ladder in a minute: authors come, enter versions and leave, while the arena and
their programs are killed."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from stich.processes import find_port
from tests.support.connecting import LADDER, ended
from tests.support.cups import all_end, children, events, started, stich
from tournament.records import FaultKind, Join
from tournament.store.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.serial]

BOT = """
import sys
from bots import kit

version = sys.argv[1]
kit.run(lambda view, moves: moves[int(version) % len(moves)], name="b", version=version,
        games=["doudizhu"])
"""
AUTHORS = ("ann", "bob", "cat")


def kill(program: Popen[str]) -> None:
    theirs = children(program.pid)
    program.kill()
    program.communicate()
    all_end(theirs)


def played(seen: Iterator[dict[str, Any]], bot: str, matches: set[str]) -> None:
    """Read events until this bot has played three more matches, and collect them all."""
    left = 3
    while left:
        event = next(seen)
        if event["event"] == "match":
            matches.add(event["match"])
            left -= bot in event["seating"]


def test_a_season(tmp_path: Path) -> None:
    bot, ladder, run = tmp_path / "bot.py", tmp_path / "ladder.toml", tmp_path / "run"
    bot.write_text(BOT)
    house = [
        f'[[bots]]\nname = "house-{number}"\ncommand = "{sys.executable} {bot} {number}"\n'
        for number in (0, 1)
    ]
    ladder.write_text(LADDER + "".join(house))
    ports = find_port("127.0.0.1", 0), find_port("127.0.0.1", 0)
    url, homes = f"http://127.0.0.1:{ports[0]}", {name: str(tmp_path / name) for name in AUTHORS}
    path = os.pathsep.join(sys.path)

    def arena() -> Popen[str]:
        where = ("--port", ports[0], "--connect-port", ports[1], "--out", run)
        return started("arena", ladder, *where, "--exit", "--json", PYTHONPATH=path)

    def author(name: str, version: int) -> Popen[str]:
        words = ("join", url, name, f"{sys.executable} {bot} {version}", "--no-sandbox")
        return started(*words, XDG_STATE_HOME=homes[name], PYTHONPATH=path)

    matches: set[str] = set()
    programs: dict[str, Popen[str]] = {}
    with ExitStack() as stack:
        for name in AUTHORS:
            stack.enter_context(ended(served := arena()))
            seen = events(served)
            next(event for event in seen if event["event"] == "begin")
            programs[name] = author(name, 1)
            stack.enter_context(ended(programs[name]))
            played(seen, name, matches)
            kill(programs["ann"])
            played(seen, "house-0", matches)
            programs["ann"] = author("ann", 2 + len(programs))
            stack.enter_context(ended(programs["ann"]))
            played(seen, f"ann/{1 + len(programs)}", matches)
            kill(served)
        stack.enter_context(ended(served := arena()))
        played(seen := events(served), "cat", matches)
        assert stich("finish", run, "--yes").returncode == 0
        *_, last = seen
        assert last["event"] == "finished"
        assert [programs[name].wait(60) for name in AUTHORS] == [0, 0, 0]
    with Store.open(run) as store:
        kept = [match.match for match in store.matches()]
        joined = [one.bot for one in store.decisions() if isinstance(one, Join)]
        # A table that has begun is finished without its bot; the others are left out.
        assert {fault.kind for _, fault in store.faults()} <= {FaultKind.UNREACHABLE}
    assert len(kept) == len(set(kept))
    assert matches <= set(kept)
    assert joined == ["ann", "ann/2", "bob", "ann/3", "cat", "ann/4"]
    verified = stich("verify", run)
    assert verified.returncode == 0, verified.stdout
