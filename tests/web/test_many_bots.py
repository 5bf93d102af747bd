"""64 bots that connect, and a cup in which one of three authors misbehaves in every way."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import requests

from stich.processes import find_port
from tests.tournament import hostile
from tests.tournament.cups import ROOT, events, standings, started, stich
from tests.tournament.hostile.server import ABOUT
from tests.web.gateways import Author
from web.gateway.invitations import Invitations

pytestmark = [pytest.mark.slow, pytest.mark.serial]


def write(folder: Path, bots: int, *lines: str) -> Path:
    text = ['name = "Cup"', 'game = "doudizhu"', "players = 3", "[clock]", "bank_ms = 60000"]
    text += lines
    for number in range(bots):
        text += ["[[bots]]", f'name = "bot-{number}"', "connect = true"]
    path = folder / "cup.toml"
    path.write_text("\n".join(text) + "\n")
    return path


def tokens(run: Path, bots: int) -> list[str]:
    run.mkdir(exist_ok=True)
    return [Invitations(run).invite(f"bot-{number}", 1) for number in range(bots)]


def many_bots(port: int, *invited: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "tests.web.many_bots", f"http://127.0.0.1:{port}", *invited]
    return subprocess.Popen(words, cwd=ROOT, text=True, stdout=subprocess.PIPE)


def test_64_connected_bots_play_a_whole_cup(tmp_path: Path) -> None:
    lines = ("[run]", "concurrency = 2", "[format]", 'type = "swiss"', "rounds = 1", "deals = 1")
    cup, run = write(tmp_path, 64, *lines), tmp_path / "run"
    port = find_port("127.0.0.1", 0)
    invited = tokens(run, 64)
    served = started("arena", cup, "--out", run, "--port", port, "--exit", "--json")
    authors = many_bots(port, *invited)
    try:
        *_, last = events(served)
        said, _ = authors.communicate(timeout=60)
        assert served.wait(60) == 0
    finally:
        for process in (served, authors):
            process.kill()
            process.communicate()
    assert last["event"] == "finished"
    assert last["matches"] == 63  # 21 tables of three seatings, and a bot that waits
    assert said.count("The cup is over.") == 64
    assert stich("matches", run, "--faults", "--json").stdout == ""


def misbehave(author: Author, over: threading.Event) -> None:
    """Answer GET / rightly, and then what was not asked, with bytes that are no answer, and call
    without end."""
    author.connect()
    threading.Thread(target=author.stay, daemon=True).start()
    answer, number = b"", "7"
    with contextlib.suppress(requests.ConnectionError):  # the arena has ended
        while not over.is_set():
            found = author.poll(answer, number)
            number = found.headers.get("X-Stich-Request", "7")
            asked = found.headers.get("X-Stich-Call")
            about = hostile.answer(json.dumps(ABOUT).encode())
            answer = about if asked == "GET /" else b"SSH-2.0-OpenSSH_9.2\r\n"
            for _ in range(3):
                author.poll(b"x" * 10_000, "99", **{"X-Stich-Table": "9"})
    author.http.close()


def test_an_author_who_misbehaves_has_all_the_faults(tmp_path: Path) -> None:
    cup, run = write(tmp_path, 3, "[format]", "deals = 1"), tmp_path / "run"
    port, connect_port = find_port("127.0.0.1", 0), find_port("127.0.0.1", 0)
    misbehaving, *honest = tokens(run, 3)
    ports = ("--port", port, "--connect-port", connect_port)
    served = started("arena", cup, "--out", run, *ports, "--exit", "--json")
    authors = many_bots(port, *honest)
    over = threading.Event()
    try:
        seen = events(served)
        assert next(seen)["event"] == "waiting"
        author = Author(f"http://127.0.0.1:{connect_port}", misbehaving)
        threading.Thread(target=misbehave, args=(author, over), daemon=True).start()
        *_, last = seen
        over.set()
        assert served.wait(60) == 0
        authors.communicate(timeout=60)
    finally:
        over.set()
        for process in (served, authors):
            process.kill()
            process.communicate()
    assert last["event"] == "finished"
    assert last["matches"] == 3
    faults = {line["bot"]: line["faults"] for line in standings(run)["standings"]}
    assert faults["bot-0"]["invalid"] > 0
    assert [sum(faults[f"bot-{number}"].values()) for number in (1, 2)] == [0, 0]
