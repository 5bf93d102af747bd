import json
import subprocess
from pathlib import Path

import pytest

from bots.kits import catalogue, find
from tests.support import npm
from tests.support.pages import links
from tests.support.tournament.cups import ROOT, code_and_text, stich

FOLDER = ROOT / "bots" / "kits"

# In answers of the service no field is left out, so the kit has no optional fields in a view.
SAME_TYPES = """
import type { components } from "./contract.js";
import type { EndRequest, Info, MoveRequest, StartRequest } from "./protocol.js";

type Full<T> = { [K in keyof T]-?: Full<T[K]> };
type All = components["schemas"];
type Contract = Full<
  [All["BotMoveRequest"], All["BotStart"], All["BotEnd"], All["BotMoveAnswer"]["info"]]
>;
type Kit = Full<[MoveRequest, StartRequest, EndRequest, Info | undefined]>;
export const there = (types: Contract): Kit => types;
export const back = (types: Kit): Contract => types;
"""


def test_the_catalogue_has_every_file_and_no_name_twice() -> None:
    kits = catalogue()
    named = {name for kit in kits.values() for name in kit.sources.values()}
    files = [file for file in FOLDER.glob("*/**/*") if file.is_file()]
    there = {file.relative_to(FOLDER.parent).as_posix() for file in files}
    there = {name for name in there if "__pycache__" not in name}
    assert {name for name in named if name.startswith("kits/")} == there
    names = [name for kit in kits.values() for name in (kit.language, *kit.aliases)]
    assert len(names) == len(set(names))


def test_a_copy_has_every_page_that_its_pages_link_to(tmp_path: Path) -> None:
    find("go").copy(tmp_path)
    pages = list(tmp_path.rglob("*.md"))
    assert {"README.md", "bots.md", "views.md", "zhengfen.md"} <= {page.name for page in pages}
    for page in pages:
        for link in links(page.read_text()):
            assert (page.parent / link).is_file(), f"{page}: {link}"


def test_it_lists_copies_and_says_what_comes_next(tmp_path: Path) -> None:
    shown = [line.split(" ")[0] for line in stich("new-bot", "--list").stdout.splitlines()]
    assert shown == ["LANGUAGE", *catalogue()]
    listed = json.loads(stich("new-bot", "--list", "--json").stdout)
    assert [(kit["language"], kit["packages"]) for kit in listed] == [
        (name, [*kit.needs]) for name, kit in catalogue().items()
    ]
    target = tmp_path / "a new one" / "bot"
    says = stich("new-bot", "python", target).stdout
    assert {path.name for path in target.iterdir()} == {"README.md", "bot.py", "docs", "kit.py"}
    assert f"stich check --command \"python3 '{target}'/bot.py\"" in says
    says = stich("new-bot", "LLM", tmp_path / "llm").stdout
    assert f"README.md says:\n  python {tmp_path}/llm/bot.py" in says
    assert "--command" not in says  # because its author starts it


@pytest.mark.slow
def test_the_python_copy_is_checked_and_clean(tmp_path: Path) -> None:
    mypy = pytest.importorskip("mypy.api")
    options = ["--strict", "--config-file=", f"--cache-dir={tmp_path}/.cache"]
    for language, program in (("python", "bot.py"), ("stdio", "shim.py")):
        find(language).copy(tmp_path / language)
        out, err, status = mypy.run([*options, str(tmp_path / language / program)])
        assert status == 0, out + err


def test_it_refuses_and_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "bot" / "notes"
    file.parent.mkdir()
    file.write_text("mine")
    for language, target, says in (
        ("js", file, f"{file} is "),
        ("js", file.parent, f"{file.parent} is "),
        ("cobol", tmp_path / "new", "no starter kit for 'cobol'; there are python, "),
    ):
        code, text = code_and_text("new-bot", language, target)
        assert (code, says in text) == (2, True), text
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [file]


@pytest.mark.slow
def test_the_typescript_types_are_those_of_the_contract(tmp_path: Path) -> None:
    find("typescript").copy(tmp_path / "kit")
    folder = npm.installed(tmp_path / "kit", tmp_path / "installed")
    (folder / "src" / "same.ts").write_text(SAME_TYPES)
    npx, contract = ["npx", "--yes"], str(ROOT / "openapi.yaml")
    generate = [*npx, "openapi-typescript@7.13.0", contract, "-o", "src/contract.d.ts"]
    subprocess.run(generate, cwd=folder, check=True)
    done = subprocess.run([*npx, "tsc", "--noEmit"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
