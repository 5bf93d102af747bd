"""Servers beside a command end with it, even if it is stopped while they start."""

import os
import select
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from click import ClickException

from stich import processes
from stich.processes import find_port, keep_running
from tests.support.machine import until
from tests.support.tournament import played
from tests.support.tournament.cups import all_end, children, is_served, started


def arena(folder: Path, ready: bool = True) -> tuple[subprocess.Popen[str], int]:
    """An arena of a finished run that has a server, which answers if `ready`, and its port."""
    played.run(folder, played.cup(deals=1)).close()
    port = find_port("127.0.0.1", 0)
    process = started("arena", folder, "--port", port)
    until(lambda: process.poll() is not None or children(process.pid) != [])
    if ready:
        assert process.stderr is not None
        assert "Pages at" in process.stderr.readline()
    return process, port


@pytest.mark.parametrize(
    ("how", "ready"), [(signal.SIGTERM, False), (signal.SIGINT, True), (signal.SIGKILL, True)]
)
def test_nothing_is_left_at_the_port(tmp_path: Path, how: signal.Signals, ready: bool) -> None:
    process, port = arena(tmp_path, ready)
    servers = children(process.pid)
    assert servers
    process.send_signal(how)
    _, errors = process.communicate()
    assert process.returncode == (-how if how == signal.SIGKILL else 128 + how)
    assert "Traceback" not in errors
    all_end(servers)
    until(lambda: not is_served(port))  # what a server has started ends soon after it


def test_pages_that_stop_too_often_end_the_arena(tmp_path: Path) -> None:
    """The arena's systemd unit then starts it again. A killed worker alone is replaced, without
    its low priority, which belongs to its session. A suspended server counts as stopped."""
    process, port = arena(tmp_path)
    server, *_, worker = children(process.pid)
    assert os.getsid(server) != os.getsid(worker)
    os.kill(worker, signal.SIGKILL)
    all_end([worker])
    until(lambda: is_served(port))
    os.kill(server, signal.SIGSTOP)
    while process.poll() is None:
        first = children(process.pid)[:1]
        if first not in ([], [server]):
            (server,) = first
            os.kill(server, signal.SIGKILL)
        select.select([], [], [], 0.02)
    _, errors = process.communicate()
    assert (process.returncode, "Traceback" in errors) == (1, False), errors
    assert errors.count("The server of the pages has stopped; restarting it.") == 4
    assert "has stopped 5 times within a minute, so this command ends too; see above" in errors


def test_a_server_may_stop_often_in_a_long_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_PAUSE_S", 0)
    times = iter([0, 20, 40, 60, 80, 100, 120, 121, 122])
    assert not keep_running("It", ["true"], {}, threading.Event(), lambda: next(times))
    assert list(times) == []


@pytest.mark.parametrize("host", ["192.0.2.1", "no host", "a..b"])
def test_an_unusable_address_is_one_sentence(host: str) -> None:
    with pytest.raises(ClickException, match=f"^Cannot listen on port 0 of {host}: ") as raised:
        find_port(host, 0, "--connect-port")
    assert "another --connect-port, or --host 127.0.0.1" in raised.value.message
