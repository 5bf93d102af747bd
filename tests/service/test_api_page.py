"""docs/api.md and docs/sealed.md: every command is run and answers what the page says."""

import json
import re
import shlex
import socket
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.prerequisites import needs_curl
from tests.support.running import Running
from tests.support.service import ROOT

PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
SEALED = (ROOT / "docs" / "sealed.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8080"


def steps(page: str) -> Iterator[tuple[str, str | None]]:
    """Yield each block of commands with the answer that follows, or None without an answer."""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    for index, (language, text) in enumerate(blocks):
        if language == "sh":
            after = blocks[index + 1] if index + 1 < len(blocks) else ("", "")
            yield text, after[1].strip() if after[0] == "json" else None


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with Running(STICH_SEAL_KEYS=f"2026:{b64encode(bytes(32)).decode()}") as one:
        yield one


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def walk_through(page: str, running: Running, tmp_path: Path) -> set[str]:
    """Run all commands of a page, and return the paths that they request."""
    asked = set()
    for commands, answer in steps(page):
        if "stich serve" in commands:
            continue
        script = commands.replace(ADDRESS, running.url).replace("9000", str(free_port()))
        script = script.replace("python -m", f"{shlex.quote(sys.executable)} -m")
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, (commands, done.stderr)
        asked |= set(re.findall(re.escape(ADDRESS) + r"(/\S+)", commands))
        if answer is not None:
            expected, got = json.loads(answer), json.loads(done.stdout)
            if expected.get("detail") == "…":  # the page does not hold the rules to their words
                expected["detail"] = got["detail"]
            assert got == expected, commands
        if "/move " in commands:
            assert (
                json.loads(done.stdout)["move"]
                in json.loads((tmp_path / "moves.json").read_text())["moves"]
            )
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                json.loads(line)
    return asked


@needs_curl
def test_the_walk_through_sealed_states(running: Running, tmp_path: Path) -> None:
    asked = walk_through(SEALED, running, tmp_path)
    operations = ("start", "view", "moves", "validate", "advance")
    assert asked == {f"/v1/sealed/{name}" for name in operations}
    assert json.loads((tmp_path / "table.json").read_text())["keys"] == [None, None, None]
    assert json.loads((tmp_path / "public.json").read_text())["view"]["hand"] == []
    assert json.loads((tmp_path / "next.json").read_text()).keys() == {"sealed", "view"}


@needs_curl
def test_the_walk_through(running: Running, tmp_path: Path) -> None:
    asked = walk_through(PAGE, running, tmp_path)
    state, after, view = (
        json.loads((tmp_path / f"{name}.json").read_text()) for name in ("state", "after", "view")
    )
    assert state["state"]["phase"] == "auction"
    assert after["state"]["phase"] == "play"
    assert view["view"]["seat"] == after["state"]["turn"], "whose moves the page lists"
    assert asked >= {"/v1/games", "/v1/start", "/v1/moves", "/v1/validate", "/v1/advance"}
    assert asked >= {"/v1/view", "/healthz", "/metrics", "/openapi.yaml", "/docs"}
