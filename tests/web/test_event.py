"""docs/event.md from its first command to its last: an installed wheel, Debian's nginx with TLS,
three authors' programs behind proxies, one of them cut off, and the runner killed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from stich.processes import find_port
from tests import wheel
from tests.nginx import command, needs_nginx, running, with_folder
from tests.service.support import ROOT
from tests.tournament.cups import all_end, children
from tests.web.network import ConnectProxy

pytestmark = [pytest.mark.slow, pytest.mark.serial]

PAGE = (ROOT / "docs" / "event.md").read_text("utf-8")
COMMANDS = re.compile(r"^<!-- run (\w+) -->\n```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
DEBIAN = Path("/etc/nginx/nginx.conf")
SHIMS = {
    "sudo": 'exec "$@"',
    "apt-get": "ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1 || exit 0\n"
    'exec /usr/bin/apt-get --simulate --quiet "$@"',
    "systemctl": '[ "$*" = "reload nginx" ] && exec nginx -s reload',
}


def block(language: str) -> str:
    """The only block of the page in this language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


class Running:
    """A command of the page that goes on, and what it has written."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.text = ""
        self._grown = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            with self._grown:
                self.text += line
                self._grown.notify_all()
        if self.process.stdout:
            self.process.stdout.close()
        with self._grown:
            self._grown.notify_all()

    def wait_for(self, words: str, times: int = 1) -> None:
        """Wait until it has written these words; AssertionError if it ends before."""
        with self._grown:
            self._grown.wait_for(
                lambda: self.text.count(words) >= times or not self._reader.is_alive()
            )
        assert self.text.count(words) >= times, self.text

    def end(self) -> int:
        """Wait until it ends, and end what it started in the background; its exit code."""
        code = self.process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self._reader.join()
        return code

    def stop(self) -> None:
        """Ctrl-C."""
        os.killpg(self.process.pid, signal.SIGINT)

    def kill(self) -> None:
        """End it at once, and all that it has started."""
        if self.process.poll() is None:
            below = children(self.process.pid)
            os.killpg(self.process.pid, signal.SIGKILL)
            all_end([self.process.pid, *below])
        self.end()


class Machine:
    """A folder in place of a machine: the page's commands with its paths and free ports."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.nginx = folder / "nginx"
        self.ran: set[str] = set()
        self.https, self.http, self.pages, self.gateway, self.bob = (
            find_port("127.0.0.1", 0) for _ in range(5)
        )
        self._changes = {
            "/etc/nginx": str(self.nginx),
            "listen [::]:80;": "",
            "listen [::]:443 ssl;": "",
            "listen 80;": f"listen 127.0.0.1:{self.http};",
            "listen 443 ssl;": f"listen 127.0.0.1:{self.https} ssl;",
            "127.0.0.1:8000": f"127.0.0.1:{self.pages}",
            "127.0.0.1:8001": f"127.0.0.1:{self.gateway}",
            "--port 8000": f"--port {self.pages} --connect-port {self.gateway}",
            "stich arena runs/spring --port 8000": f"stich arena runs/spring --port {self.pages}",
            "9000": str(self.bob),
        }
        shims = folder / "bin"
        shims.mkdir()
        words = shlex.join(command(self.nginx, self.nginx / "nginx.conf"))
        for name, script in {**SHIMS, "nginx": f'exec {words} "$@"'}.items():
            (shims / name).write_text(f"#!/bin/sh\n{script}\n")
            (shims / name).chmod(0o755)
        shutil.copy(wheel.build(folder), folder)
        self._environ = {
            "PATH": f"{shims}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(folder),
            "XDG_STATE_HOME": str(folder / "state"),
            "PYTHONUNBUFFERED": "1",
            "PIP_NO_INDEX": "1",
            "PIP_NO_DEPS": "1",
        }

    def with_ports(self, text: str) -> str:
        """A text of the page with the paths and ports of the test."""
        for found in sorted(self._changes, key=len, reverse=True):
            text = text.replace(found, self._changes[found])
        return text

    def start(
        self, name: str, at: str = "", changes: dict[str, str] | None = None, **more: str
    ) -> Running:
        """Start the commands of a block, in a folder of the machine."""
        self.ran.add(name)
        script = self.with_ports(dict(COMMANDS.findall(PAGE))[name])
        for found, replacement in (changes or {}).items():
            assert found in script, found
            script = script.replace(found, replacement)
        folder = self.folder / at
        folder.mkdir(exist_ok=True)
        activate = self.folder / "stich" / "bin" / "activate"
        before = f". {activate}\n" if activate.exists() else ""
        return Running(
            subprocess.Popen(
                ["sh", "-e", "-c", before + script],
                cwd=folder,
                env={**self._environ, **more},
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        )

    def run(self, name: str, at: str = "", fails: bool = False, **more: Any) -> str:
        """Run the commands of a block to their end; what they write."""
        started = self.start(name, at, **more)
        code = started.end()
        assert (code != 0) is fails, started.text
        return started.text

    @contextmanager
    def started(self, name: str, at: str = "", **more: Any) -> Iterator[Running]:
        """A command that goes on, killed in the end."""
        process = self.start(name, at, **more)
        try:
            yield process
        finally:
            process.kill()


def dependencies(environment: Path) -> None:
    """Let an environment find the packages of this one, in place of downloads."""
    (packages,) = environment.glob("lib/python3*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")


def debian(machine: Machine) -> None:
    """Nginx as Debian installs it, without its welcome page."""
    (machine.nginx / "conf.d").mkdir(parents=True)
    (machine.nginx / "mime.types").write_bytes(Path("/etc/nginx/mime.types").read_bytes())
    text = with_folder(DEBIAN.read_text(), machine.nginx).replace("/etc/nginx", str(machine.nginx))
    (machine.nginx / "nginx.conf").write_text(text)


def until(holds: Callable[[], bool]) -> None:
    """Look again and again, as a spectator does."""
    pause = threading.Event()
    while not holds():
        pause.wait(0.2)


def test_every_command_of_the_page_has_a_name() -> None:
    assert PAGE.count("```sh") == len(COMMANDS.findall(PAGE)) == len(dict(COMMANDS.findall(PAGE)))


@needs_nginx
@pytest.mark.skipif(
    not DEBIAN.exists(), reason="needs Debian's nginx.conf: apt install nginx-light"
)
def test_the_event(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    with ExitStack() as stack:
        machine.run("install")
        dependencies(tmp_path / "stich")
        cup = block("toml")
        assert "deals = 40" in cup
        (tmp_path / "spring.toml").write_text(cup.replace("deals = 40", "deals = 10"))
        ann, bob, cat = machine.run("invite").split()

        debian(machine)
        stack.enter_context(running(command(machine.nginx, machine.nginx / "nginx.conf")))
        machine.run("certificate")
        (machine.nginx / "conf.d" / "arena.conf").write_text(machine.with_ports(block("nginx")))
        machine.run("nginx")

        # arena.example is found by the proxies, as a name would be by routers
        proxies = [stack.enter_context(closing(ConnectProxy(machine.https))) for _ in range(4)]
        urls = [f"http://127.0.0.1:{proxy.port}" for proxy in proxies]
        trust = {"REQUESTS_CA_BUNDLE": str(machine.nginx / "arena.pem")}
        spectator = stack.enter_context(requests.Session())
        spectator.trust_env = False
        spectator.proxies = {"https": urls[3]}
        spectator.verify = trust["REQUESTS_CA_BUNDLE"]

        def page() -> str:
            return spectator.get("https://arena.example/", timeout=60).text

        def played() -> int:
            found = re.search(r"(\d+)(?: of \d+)? matches", page())
            return int(found[1]) if found else 0

        arena = stack.enter_context(machine.started("arena"))
        arena.wait_for("Waiting for 3 of 3 bots that connect: ann, bob, cat.")
        for name in ("ann", "bob", "cat"):
            machine.run("bot", f"home-of-{name}")
        home = {"HTTPS_PROXY": urls[0], **trust}
        programs = [
            stack.enter_context(
                machine.started("ann", "home-of-ann", changes={"TOKEN": ann}, **home)
            ),
            stack.enter_context(
                machine.started(
                    "cat",
                    "home-of-cat",
                    changes={"=TOKEN": f"={cat}", "http://proxy.example:3128": urls[2]},
                    **trust,
                )
            ),
        ]
        home = {"HTTPS_PROXY": urls[1], **trust}
        stays = stack.enter_context(
            machine.started("bob", "home-of-bob", changes={"TOKEN": bob}, **home)
        )
        for program in (*programs, stays):
            program.wait_for("Connected to Spring cup as ")

        until(lambda: played() >= 2)
        proxies[0].cut()
        programs[0].wait_for("Connection lost")
        proxies[0].up = True
        programs[0].wait_for("Connected again.")
        machine.run("watch")

        arena.kill()
        arena = stack.enter_context(machine.started("arena"))
        programs[0].wait_for("Connected to Spring cup as ", 2)
        before = played()
        until(lambda: played() > before)

        said = machine.run("pause")
        assert "of block 1 void" in said
        new = machine.run("leave").split()[0]
        assert stays.end() == 1
        assert "This token was revoked" in stays.text
        stays = stack.enter_context(
            machine.started("bob", "home-of-bob", changes={"TOKEN": new}, **home)
        )
        arena.wait_for("The cup is over; the pages stay until Ctrl-C.")
        assert [program.end() for program in (*programs, stays)] == [0, 0, 0]
        assert "The cup is over." in programs[0].text
        assert "The organiser decided that cat plays no more." in programs[1].text
        assert "The cup is over." in stays.text
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
    assert machine.ran == set(dict(COMMANDS.findall(PAGE)))
