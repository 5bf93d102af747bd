"""docs/event.md and docs/ladder.md, from their first commands to their last."""

import hashlib
import re
import shlex
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
import requests

from stich.processes import find_port
from tests.support.machine import Machine, dependencies, names_commands, until
from tests.support.nginx import command, needs_nginx, running, with_folder
from tests.support.pages import blocks
from tests.support.programs import Program
from tests.support.service.contract import ROOT
from tests.support.web.network import ConnectProxy
from tournament.records import FaultKind, Join
from tournament.store.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.serial]

DEBIAN = Path("/etc/nginx/nginx.conf")
SHIMS = {
    "sudo": 'exec "$@"',
    "apt-get": "ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1 || exit 0\n"
    'exec /usr/bin/apt-get --simulate --quiet "$@"',
    "systemctl": '[ "$*" = "reload nginx" ] && exec nginx -s reload',
}


def installed(
    folder: Path, page: str, cup: str, changes: dict[str, str], shims: dict[str, str]
) -> Machine:
    """A machine on which Stich is installed as the page says, with the page's cup."""
    text = (ROOT / page).read_text("utf-8")
    assert names_commands(text)
    machine = Machine(folder, text, changes, shims)
    machine.run("install")
    dependencies(folder / "stich")
    (folder / cup).write_text(blocks(page, "toml")[0])
    return machine


@needs_nginx
@pytest.mark.skipif(not DEBIAN.exists(), reason="needs Debian's nginx.conf")
def test_every_command_of_the_event_page_works(tmp_path: Path) -> None:
    nginx = tmp_path / "nginx"
    https, http, pages, gateway, bob_port = (find_port("127.0.0.1", 0) for _ in range(5))
    changes = {
        "/etc/nginx": str(nginx),
        "listen [::]:80;": "",
        "listen [::]:443 ssl;": "",
        "listen 80;": f"listen 127.0.0.1:{http};",
        "listen 443 ssl;": f"listen 127.0.0.1:{https} ssl;",
        "127.0.0.1:8000": f"127.0.0.1:{pages}",
        "127.0.0.1:8001": f"127.0.0.1:{gateway}",
        "--port 8000": f"--port {pages} --connect-port {gateway}",
        "stich arena runs/spring --port 8000": f"stich arena runs/spring --port {pages}",
        "9000": str(bob_port),
    }
    words = command(nginx, nginx / "nginx.conf")
    shims = {**SHIMS, "nginx": f'exec {shlex.join(words)} "$@"'}
    machine = installed(tmp_path, "docs/event.md", "spring.toml", changes, shims)
    with ExitStack() as stack:
        ann, bob, cat = machine.run("invite").split()

        # nginx as Debian installs it, without its welcome page
        (nginx / "conf.d").mkdir(parents=True)
        (nginx / "mime.types").write_bytes(Path("/etc/nginx/mime.types").read_bytes())
        text = with_folder(DEBIAN.read_text(), nginx).replace("/etc/nginx", str(nginx))
        (nginx / "nginx.conf").write_text(text)
        stack.enter_context(running(words))
        machine.run("certificate")
        text = machine.with_ports(blocks("docs/event.md", "nginx")[0])
        (nginx / "conf.d" / "arena.conf").write_text(text)
        machine.run("nginx")

        # arena.example is found by the proxies, as a name would be by routers
        proxies = [stack.enter_context(closing(ConnectProxy(https))) for _ in range(4)]
        urls = [f"http://127.0.0.1:{proxy.port}" for proxy in proxies]
        trust = {"REQUESTS_CA_BUNDLE": str(nginx / "arena.pem")}
        how: dict[str, Any] = {"proxies": {"https": urls[3]}, "verify": str(nginx / "arena.pem")}

        def page() -> str:
            return requests.get("https://arena.example/", timeout=60, **how).text

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
        state = {"XDG_STATE_HOME": str(reader / "state")}
        assert key in machine.run("check", "reader", **state)
        assert "accepted" in machine.run("trust", "reader", changes={"KEY": key}, **state)
    assert any("CONNECT arena.example:443" in proxy.asked for proxy in proxies)
    assert machine.ran == set(machine.commands)


def test_every_command_of_the_ladder_page_works(tmp_path: Path) -> None:
    port, connect_port, bob_port = (find_port("127.0.0.1", 0) for _ in range(3))
    url = f"http://127.0.0.1:{port}"
    changes = {
        "--host 0.0.0.0 --port 8000": f"--port {port} --connect-port {connect_port}",
        "http://arena.example:8000": url,
        "9000": str(bob_port),
    }
    machine = installed(tmp_path, "docs/ladder.md", "autumn.toml", changes, {})
    with ExitStack() as stack:

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
            programs[name] = stack.enter_context(machine.started(name, name, **home(name)))
            programs[name].wait_for("Connected to Autumn ladder as ")
        assert f"its page is {url}/bots/ann" in programs["ann"].text
        until(lambda: all(map(matches_of, ("ann", "bob", "cat"))))

        verdict = machine.run("challenge", "ann", **home("ann"))
        assert all(name in verdict for name in ("ann", "cat"))
        arena.kill()
        arena = stack.enter_context(machine.started("arena"))
        arena.wait_for("Pages at ")
        programs["ann"].wait_for("Connected again.")
        before = matches_of("ann")
        until(lambda: matches_of("ann") > before)

        token = machine.run("token", "ann", **home("ann"))
        assert re.fullmatch("[0-9a-f]{64}", token.splitlines()[-1])
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
        assert "ann/2" in machine.run("verify")
    assert machine.ran == set(machine.commands)
    with Store.open(tmp_path / "runs" / "autumn") as store:
        matches = [match.match for match in store.matches()]
        joined = [decision.bot for decision in store.decisions() if isinstance(decision, Join)]
        faults = {fault.kind for match in store.matches() for fault in match.faults}
        assert faults <= {FaultKind.UNREACHABLE}  # of bots that have gone from a table
    assert len(matches) == len(set(matches))
    assert joined == ["ann", "bob", "cat", "ann/2", "ann/3"]
