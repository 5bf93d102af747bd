"""Spectators who cost more than others: they stop reading, or are more than the server takes."""

from __future__ import annotations

from pathlib import Path

import pytest
import requests

from stich.processes import find_port
from tests.connections import connections
from tests.tournament.cups import all_end, children, events, started, stich, toys, write

pytestmark = [pytest.mark.slow, pytest.mark.serial]

GET = b"GET /matches HTTP/1.1\r\nHost: x\r\n\r\n"


def memory_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def page(port: int) -> requests.Response:
    with requests.Session() as http:
        http.trust_env = False
        return http.get(f"http://127.0.0.1:{port}/", timeout=60)


def test_spectators_who_stop_reading_cost_nobody_anything(tmp_path: Path) -> None:
    """300 who ask for 50 pages each and read none: a cup ends meanwhile, and others see it."""
    cup, run = write(tmp_path, toys(3), deals=20), tmp_path / "run"
    port = find_port("127.0.0.1", 0)
    playing = started("run", cup, "--out", run, "--json")
    seen = events(playing)
    assert any(event["event"] == "match" for event in seen)
    served = started("arena", run, "--port", port)
    try:
        assert served.stderr
        assert "Pages at" in served.stderr.readline()
        with connections(port, 300, GET * 50, room=4096):
            assert page(port).status_code == 200
            *_, last = seen
            assert last["event"] == "finished"
            assert page(port).status_code == 200
            assert all(memory_mb(pid) < 400 for pid in children(served.pid))
    finally:
        for process in (playing, served):
            below = children(process.pid) if process.poll() is None else []
            process.kill()
            process.communicate()
            all_end(below)
    assert stich("verify", run).returncode == 0
