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
from tests.support import played
from tests.support.cups import all_end, children, is_served, started


def arena(folder: Path) -> tuple[subprocess.Popen[str], int]:
    """An arena that has just been started on a finished run, and its port."""
    played.run(folder, played.cup(deals=1)).close()
    port = find_port("127.0.0.1", 0)
    return started("arena", folder, "--port", port), port


def wait_for_pages(process: subprocess.Popen[str]) -> None:
    assert process.stderr is not None
    assert "Pages at" in process.stderr.readline()


@pytest.mark.parametrize(
    ("how", "ready"),
    [(signal.SIGTERM, False), (signal.SIGINT, True), (signal.SIGKILL, True)],
)
def test_nothing_is_left_at_the_port(tmp_path: Path, how: signal.Signals, ready: bool) -> None:
    """The arena is stopped as soon as there is a server, or once the server answers."""
    process, port = arena(tmp_path)
    while not children(process.pid) and process.poll() is None:
        select.select([], [], [], 0.02)
    if ready:
        wait_for_pages(process)
    servers = children(process.pid)
    assert servers
    process.send_signal(how)
    _, errors = process.communicate()
    assert process.returncode == (-how if how == signal.SIGKILL else 128 + how)
    assert "Traceback" not in errors
    all_end(servers)
    while is_served(port):  # what a server has started ends soon after it
        select.select([], [], [], 0.05)


def test_pages_that_stop_too_often_end_the_arena(tmp_path: Path) -> None:
    """The arena's systemd unit then starts it again. A killed worker alone is replaced."""
    process, port = arena(tmp_path)
    wait_for_pages(process)
    server, *_, worker = children(process.pid)
    os.kill(worker, signal.SIGKILL)
    all_end([worker])
    while not is_served(port):
        select.select([], [], [], 0.02)
    for _ in range(5):
        os.kill(server, signal.SIGKILL)
        ended = server
        while process.poll() is None and server == ended:
            server = next(iter(children(process.pid)), ended)
            select.select([], [], [], 0.02)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert errors.count("The server of the pages has stopped; restarting it.") == 4
    assert "has stopped 5 times within a minute, so this command ends too; see above" in errors
    assert "Traceback" not in errors


def test_a_server_may_stop_often_in_a_long_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_PAUSE_S", 0)
    times = iter([0, 20, 40, 60, 80, 100, 120, 121, 122])
    assert not keep_running("It", ["true"], {}, threading.Event(), lambda: next(times))
    assert list(times) == []


@pytest.mark.parametrize("host", ["192.0.2.1", "no host"])
def test_an_unusable_address_is_one_sentence(host: str) -> None:
    with pytest.raises(ClickException, match=f"^Cannot listen on port 0 of {host}: ") as raised:
        find_port(host, 0, "--connect-port")
    assert "another --connect-port, or --host 127.0.0.1" in raised.value.message
