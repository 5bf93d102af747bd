import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import requests

from service.problems import MEDIA_TYPE, PROBLEM_TYPES
from stich.processes import find_port
from tests.support.nginx import command, needs_nginx, with_folder
from tests.support.nginx import running as nginx_running
from tests.support.service.connections import ask_moves, connections
from tests.support.service.contract import ROOT, matches
from tests.support.service.running import Running

pytestmark = pytest.mark.slow
DEPLOY = ROOT / "deploy"
SLOW_BODY = ask_moves(b"{", 1000)
LIMITS = "limit_conn connections 64;", "limit_req zone=requests burst=400 nodelay;"


@contextmanager
def nginx(
    folder: Path, service: str, *, limits: bool = True, local: str = "127.0.0.1"
) -> Iterator[int]:
    """Nginx on a free port of this machine, in front of a service. All clients share an address."""
    port = find_port("127.0.0.1", 0)
    text = with_folder((DEPLOY / "nginx.conf").read_text("utf-8"), folder)
    changes = {
        "server 127.0.0.1:8080;": f"server {service};",
        "listen 80 ": f"listen 127.0.0.1:{port} ",
        "listen [::]:80 default_server;": "",
        "allow 127.0.0.1;": f"allow {local};",
    }
    if not limits:
        changes |= dict.fromkeys(LIMITS, "")
    for line, replacement in changes.items():
        assert line in text
        text = text.replace(line, replacement)
    path = folder / "nginx.conf"
    path.write_text(text, "utf-8")
    with nginx_running(command(folder, path)):
        yield port


@pytest.fixture
def service(running: Running) -> str:
    return running.url.removeprefix("http://")


@needs_nginx
def test_600_slow_bodies_and_600_silent_connections(tmp_path: Path, service: str) -> None:
    """The connections never reach the service, and nginx closes them all."""
    with (
        nginx(tmp_path, service, limits=False) as port,
        connections(port, 600, SLOW_BODY) as bodies,
        connections(port, 600, b"") as silent,
    ):
        url = f"http://127.0.0.1:{port}"
        assert requests.get(url + "/healthz", timeout=5).json() == {"status": "ok"}
        path, plain = "/docs/assets/swagger-ui-bundle.js", {"Accept-Encoding": "identity"}
        bundle = requests.get(url + path, headers=plain, timeout=5)
        assert len(bundle.content) == int(bundle.headers["Content-Length"])
        started = requests.post(url + "/v1/start", json={"game": "zhengfen"}, timeout=5)
        assert started.json()["state"]["game"] == "zhengfen"
        counted = requests.get(url + "/metrics", timeout=5).text
        assert 'route="/v1/moves"' not in counted, "a body that is not complete reached the service"
        for connection in [*bodies, *silent]:  # each read waits until nginx closes the connection
            with suppress(ConnectionResetError):
                while connection.recv(65536):
                    pass
        assert requests.get(url + "/healthz", timeout=5).status_code == 200


@needs_nginx
def test_nginx_refuses_with_problems_and_keeps_metrics_local(tmp_path: Path, service: str) -> None:
    with nginx(tmp_path, service, local="192.0.2.1") as port:
        for path in ("/metrics", "/metrics/", "/metrics//", "/%6Detrics"):
            assert requests.get(f"http://127.0.0.1:{port}{path}", timeout=5).status_code == 403
        url = f"http://127.0.0.1:{port}/v1/start"
        too_large = requests.post(url, data=b" " * 2_100_000, timeout=5)
        headers = {"Content-Type": "application/json", "X-Request-Id": "a.1"}
        by_service = requests.post(url, data=b" " * 1_100_000, headers=headers, timeout=5)
        with connections(port, 64, SLOW_BODY):
            for _ in range(100):  # until nginx has seen all their heads
                answers = [requests.post(url, json={}, timeout=5)]
                if answers[0].status_code == 429:
                    break
    assert by_service.json()["detail"] == "The body has more than 1048576 bytes."
    assert by_service.json()["request_id"] == "a.1"
    other = tmp_path / "other"  # an nginx that ends would remove the PID file of the next one
    other.mkdir()
    with nginx(other, f"127.0.0.1:{find_port('127.0.0.1', 0)}") as port:
        answers += [too_large, requests.post(f"http://127.0.0.1:{port}/v1/start", timeout=5)]
    log = "".join(path.read_text("utf-8") for path in tmp_path.rglob("stich.log"))
    assert '"request_id":"a.1"' in log
    for answer, code in zip(answers, ("busy", "too-large", "unavailable"), strict=True):
        problem, type_ = answer.json(), PROBLEM_TYPES[code]
        assert matches("Problem", problem)
        assert answer.headers["Content-Type"] == MEDIA_TYPE
        assert (problem["code"], problem["title"]) == (code, type_.title)
        assert problem["status"] == answer.status_code == type_.status
        assert problem["request_id"] == answer.headers["X-Request-Id"]
        assert problem["request_id"] in log
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert int(answer.headers["Retry-After"]) > 0


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze of systemd")
@pytest.mark.parametrize(("name", "exposure"), [("stich.service", 20), ("stich-cup@.service", 80)])
def test_a_unit_is_valid_and_confined(tmp_path: Path, name: str, exposure: int) -> None:
    unit = str(tmp_path / name.replace("@", "@spring"))
    text = (DEPLOY / name).read_text("utf-8")
    program = "/opt/stich/current/bin/python"
    assert program in text
    Path(unit).write_text(text.replace(program, sys.executable), "utf-8")
    verify = ["systemd-analyze", "verify", "--man=no", unit]
    verified = subprocess.run(verify, capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")
    security = ["systemd-analyze", "security", "--offline=yes", f"--threshold={exposure}", unit]
    graded = subprocess.run(security, capture_output=True, text=True, check=False)
    assert graded.returncode == 0, graded.stdout


def test_the_service_and_the_cups_have_different_users() -> None:
    """Systemd would name the service's user like its unit, `stich`, which owns the cups."""
    units = [(DEPLOY / name).read_text("utf-8") for name in ("stich.service", "stich-cup@.service")]
    users = {user for unit in units for user in re.findall(r"^User=(.+)", unit, re.MULTILINE)}
    assert len(users) == 2
