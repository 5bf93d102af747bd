"""docs/event.md from its first command to its last: an installed wheel, Debian's nginx with TLS,
three authors' programs behind proxies, one of them cut off, and the runner killed."""

import hashlib
import re
import shlex
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
import requests

from stich.processes import find_port
from tests.support.machine import Machine, dependencies, names_commands, until
from tests.support.nginx import command, needs_nginx, running, with_folder
from tests.support.pages import blocks
from tests.support.programs import Program
from tests.support.service.contract import ROOT
from tests.support.web.network import ConnectProxy

pytestmark = [pytest.mark.slow, pytest.mark.serial]

PAGE = (ROOT / "docs" / "event.md").read_text("utf-8")
DEBIAN = Path("/etc/nginx/nginx.conf")
SHIMS = {
    "sudo": 'exec "$@"',
    "apt-get": "ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1 || exit 0\n"
    'exec /usr/bin/apt-get --simulate --quiet "$@"',
    "systemctl": '[ "$*" = "reload nginx" ] && exec nginx -s reload',
}


class Server(Machine):
    """A machine with nginx and free ports."""

    def __init__(self, folder: Path) -> None:
        self.nginx = folder / "nginx"
        self.https, http, pages, gateway, bob = (find_port("127.0.0.1", 0) for _ in range(5))
        changes = {
            "/etc/nginx": str(self.nginx),
            "listen [::]:80;": "",
            "listen [::]:443 ssl;": "",
            "listen 80;": f"listen 127.0.0.1:{http};",
            "listen 443 ssl;": f"listen 127.0.0.1:{self.https} ssl;",
            "127.0.0.1:8000": f"127.0.0.1:{pages}",
            "127.0.0.1:8001": f"127.0.0.1:{gateway}",
            "--port 8000": f"--port {pages} --connect-port {gateway}",
            "stich arena runs/spring --port 8000": f"stich arena runs/spring --port {pages}",
            "9000": str(bob),
        }
        words = shlex.join(command(self.nginx, self.nginx / "nginx.conf"))
        super().__init__(folder, PAGE, changes, {**SHIMS, "nginx": f'exec {words} "$@"'})


@needs_nginx
@pytest.mark.skipif(
    not DEBIAN.exists(), reason="needs Debian's nginx.conf: apt install nginx-light"
)
def test_every_command_of_the_event_page_works(tmp_path: Path) -> None:
    assert names_commands(PAGE)
    machine = Server(tmp_path)
    with ExitStack() as stack:
        machine.run("install")
        dependencies(tmp_path / "stich")
        (tmp_path / "spring.toml").write_text(blocks("docs/event.md", "toml")[0])
        ann, bob, cat = machine.run("invite").split()

        # nginx as Debian installs it, without its welcome page
        nginx = machine.nginx
        (nginx / "conf.d").mkdir(parents=True)
        (nginx / "mime.types").write_bytes(Path("/etc/nginx/mime.types").read_bytes())
        text = with_folder(DEBIAN.read_text(), nginx).replace("/etc/nginx", str(nginx))
        (nginx / "nginx.conf").write_text(text)
        stack.enter_context(running(command(nginx, nginx / "nginx.conf")))
        machine.run("certificate")
        (nginx / "conf.d" / "arena.conf").write_text(
            machine.with_ports(blocks("docs/event.md", "nginx")[0])
        )
        machine.run("nginx")

        # arena.example is found by the proxies, as a name would be by routers
        proxies = [stack.enter_context(closing(ConnectProxy(machine.https))) for _ in range(4)]
        urls = [f"http://127.0.0.1:{proxy.port}" for proxy in proxies]
        trust = {"REQUESTS_CA_BUNDLE": str(nginx / "arena.pem")}
        spectator = stack.enter_context(requests.Session())
        spectator.trust_env = False
        spectator.proxies = {"https": urls[3]}
        spectator.verify = trust["REQUESTS_CA_BUNDLE"]

        def page() -> str:
            return spectator.get("https://arena.example/", timeout=60).text

        def played() -> int:
            count = re.search(r"(\d+)(?: of \d+)? matches", page())
            return int(count[1]) if count else 0

        arena = stack.enter_context(machine.started("arena"))
        arena.wait_for("Waiting for 3 of 3 bots that connect: ann, bob, cat.")
        for name in ("ann", "bob", "cat"):
            machine.run("bot", f"home-of-{name}")

        def start(name: str, changes: dict[str, str], **environ: str) -> Program:
            program = machine.started(name, f"home-of-{name}", changes=changes, **environ, **trust)
            return stack.enter_context(program)

        proxy_of_cat = {"=TOKEN": f"={cat}", "http://proxy.example:3128": urls[2]}
        programs = {
            "ann": start("ann", {"TOKEN": ann}, HTTPS_PROXY=urls[0]),
            "bob": start("bob", {"TOKEN": bob}, HTTPS_PROXY=urls[1]),
            "cat": start("cat", proxy_of_cat),
        }
        for program in programs.values():
            program.wait_for("Connected to Spring cup as ")

        until(lambda: played() >= 2)
        proxies[0].cut()
        programs["ann"].wait_for("Connection lost")
        proxies[0].up = True
        programs["ann"].wait_for("Connected again.")
        machine.run("watch")

        arena.kill()
        arena = stack.enter_context(machine.started("arena"))
        programs["ann"].wait_for("Connected again.")
        before = played()
        until(lambda: played() > before)

        assert "matches of block 1" in machine.run("pause")
        new = machine.run("leave").split()[0]
        assert programs["bob"].end() == 1
        assert "This token was revoked" in programs["bob"].text
        programs["bob"] = start("bob", {"TOKEN": new}, HTTPS_PROXY=urls[1])
        arena.wait_for("The run is over; the pages stay until Ctrl-C.")
        assert [program.end() for program in programs.values()] == [0, 0, 0]
        assert all("The cup is over." in programs[name].text for name in ("ann", "bob"))
        assert "The organiser decided that cat no longer plays." in programs["cat"].text
        machine.run("disqualify")
        until(lambda: "disqualified" in page())
        arena.stop()
        arena.end()

        with machine.started("pages"):
            until(lambda: "Its author also plays as ann." in page())

        machine.run("publish")
        assert (tmp_path / "spring" / "report.html").stat().st_size > 10_000
        assert (tmp_path / "spring" / "results.csv").read_text().count("\n") > 10
        (promised,) = set(re.findall(r"SHA-256 of the seed: (\w+)", arena.text))
        (seed,) = re.findall(r"^Seed: (.*)$", arena.text, re.MULTILINE)
        assert hashlib.sha256(seed.encode()).hexdigest() == promised
        (key,) = re.findall(r"signed by the key (\w{64})", arena.text)

        reader = tmp_path / "reader"
        reader.mkdir()
        (reader / "spring.tar.gz").write_bytes((tmp_path / "spring.tar.gz").read_bytes())
        state = reader / "state"
        assert key in machine.run("check", "reader", XDG_STATE_HOME=str(state))
        assert "accepted" in machine.run(
            "trust", "reader", changes={"KEY": key}, XDG_STATE_HOME=str(state)
        )
    assert any("CONNECT arena.example:443" in proxy.asked for proxy in proxies)
    assert machine.ran == set(machine.commands)
