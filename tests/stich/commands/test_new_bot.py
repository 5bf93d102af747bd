"""`stich new-bot`, and the kits' catalogue against their folders."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from bots.kits import KitError, catalogue, find
from stich.commands.authors import new_bot
from tests.support import make_bot_types
from tests.support.pages import links

FOLDER = Path(__file__).parents[3] / "bots" / "kits"


def test_every_file_of_every_folder_is_in_the_catalogue() -> None:
    kits = catalogue()
    for language, kit in kits.items():
        there = {
            path.relative_to(FOLDER / language).as_posix()
            for path in (FOLDER / language).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        folder = f"kits/{language}/"
        named = {name for name, source in kit.sources.items() if source.startswith(folder)}
        assert named == there
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir()} - {"__pycache__", "docs"}
    assert folders == set(kits)


def test_a_copy_has_every_page_that_its_pages_link_to(tmp_path: Path) -> None:
    find("go").copy(tmp_path)
    pages = list(tmp_path.rglob("*.md"))
    assert {"README.md", "bots.md", "views.md", "zhengfen.md"} <= {page.name for page in pages}
    for page in pages:
        for link in links(page.read_text()):
            assert (page.parent / link).is_file(), f"{page}: {link}"


def test_names_and_aliases_are_each_of_one_kit() -> None:
    kits = catalogue()
    names = [name for kit in kits.values() for name in (kit.language, *kit.aliases)]
    assert len(names) == len(set(names))
    assert find("JS") is not None
    with pytest.raises(KitError, match="no starter kit for 'cobol'; there are python, "):
        find("cobol")


def test_it_copies_and_says_what_comes_next(tmp_path: Path) -> None:
    target = tmp_path / "a new one" / "bot"
    result = CliRunner().invoke(new_bot, ["python", str(target)])
    assert result.exit_code == 0
    assert {path.name for path in target.iterdir()} == {"README.md", "bot.py", "docs", "kit.py"}
    assert f"python3 '{target}'/bot.py" in result.output
    assert "stich check" in result.output


def test_a_bot_its_author_runs_is_not_started_by_others(tmp_path: Path) -> None:
    result = CliRunner().invoke(new_bot, ["llm", str(tmp_path)])
    assert f"README.md says:\n  python {tmp_path}/bot.py" in result.output
    assert "--command" not in result.output


@pytest.mark.slow
def test_the_python_copy_is_checked_and_clean(tmp_path: Path) -> None:
    find("python").copy(tmp_path)
    find("stdio").copy(tmp_path / "stdio")
    mypy = pytest.importorskip("mypy.api")
    for directory, name in ((tmp_path, "bot.py"), (tmp_path / "stdio", "shim.py")):
        out, err, status = mypy.run(
            ["--strict", "--config-file=", f"--cache-dir={tmp_path}/.cache", str(directory / name)]
        )
        assert status == 0, out + err


@pytest.mark.parametrize("name", ["bot", "bot/notes"], ids=["a file", "a folder with a file"])
def test_it_refuses_what_is_there(tmp_path: Path, name: str) -> None:
    file, target = tmp_path / name, tmp_path / "bot"
    file.parent.mkdir(exist_ok=True)
    file.write_text("mine")
    result = CliRunner().invoke(new_bot, ["js", str(target)])
    assert result.exit_code == 2
    assert f"{target} is " in result.output
    assert "new or empty" in result.output
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [file]


def test_it_lists_the_languages() -> None:
    plain = CliRunner().invoke(new_bot, ["--list"])
    assert plain.exit_code == 0
    for language, kit in catalogue().items():
        (line,) = [line for line in plain.output.splitlines() if line.startswith(f"{language} ")]
        assert " ".join(kit.needs) in line
    listed = json.loads(CliRunner().invoke(new_bot, ["--list", "--json"]).output)
    assert [entry["language"] for entry in listed] == list(catalogue())


@pytest.mark.slow
def test_the_typescript_types_are_those_of_the_contract(tmp_path: Path) -> None:
    if shutil.which("npx") is None:
        pytest.skip("npx is not there (Debian: npm)")
    target = tmp_path / "api.d.ts"
    make_bot_types.main(str(target))
    assert make_bot_types.TYPES.read_text() == target.read_text(), "run `make openapi`"
