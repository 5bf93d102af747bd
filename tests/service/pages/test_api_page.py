import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

from stich.processes import find_port
from tests.support.pages import ROOT, run_script
from tests.support.prerequisites import needs_curl
from tests.support.service.running import Running

ADDRESS = "http://127.0.0.1:8080"


def walk_through(page: str, running: Running, folder: Path) -> set[str]:
    """Run all commands of a page in a folder, and return the paths that they request."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    paths = set()
    for (language, commands), (following, answer) in pairwise([*blocks, ("", "")]):
        if language != "sh" or "stich serve" in commands:
            continue
        port = str(find_port("127.0.0.1", 0))
        script = commands.replace(ADDRESS, running.url).replace("9000", port)
        printed = run_script(script, folder)
        paths |= set(re.findall(re.escape(ADDRESS) + r"(/\S+)", commands))
        if following == "json":
            expected, got = json.loads(answer), json.loads(printed)
            if expected.get("detail") == "…":  # the page does not hold the rules to their words
                expected["detail"] = got["detail"]
            assert got == expected, commands
        if "/move " in commands:
            assert json.loads(printed)["move"] in written(folder, "moves")["moves"]
    return paths


def written(folder: Path, name: str) -> Any:
    return json.loads((folder / f"{name}.json").read_text())


@needs_curl
def test_the_walk_through_sealed_states(running: Running, tmp_path: Path) -> None:
    paths = walk_through("sealed.md", running, tmp_path)
    operations = ("start", "view", "moves", "validate", "advance")
    assert paths == {f"/v1/sealed/{name}" for name in operations}
    assert written(tmp_path, "next").keys() == {"sealed", "view"}


@needs_curl
def test_the_walk_through(running: Running, tmp_path: Path) -> None:
    paths = walk_through("api.md", running, tmp_path)
    after = written(tmp_path, "after")["state"]
    assert written(tmp_path, "view")["view"]["seat"] == after["turn"], "whose moves the page lists"
    operations = ("games", "start", "moves", "validate", "advance", "view")
    others = {"/healthz", "/metrics", "/openapi.yaml", "/docs"}
    assert paths >= {f"/v1/{name}" for name in operations} | others
