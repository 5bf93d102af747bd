import re
from fnmatch import fnmatchcase
from pathlib import Path

import games

ROOT = Path(__file__).parents[2]
CONTRACT = ROOT / "openapi.yaml"
PAGE = (ROOT / "docs" / "adding-a-game.md").read_text()
BELOW_STICH = ("games", "learning", "serving", "service", "tournament", "bots")
PACKAGES = (*BELOW_STICH, "stich", "benchmarks", "examples")
CODE = {".py", ".toml", ".yaml", ".js", ".mjs", ".ts", ".java", ".go", ".rs", ".cpp", ".hpp"}
# Help texts and comments use Dou Dizhu as the example; they do not mention the others.
NAMES = [name for name in games.GAMES if name != "doudizhu"]


def patterns(heading: str) -> list[str]:
    """The first column of the table under a heading."""
    section = re.split(r"^## ", PAGE.partition(f"## {heading}")[2], flags=re.MULTILINE)[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


LISTED = patterns("What a game needs") + patterns("What else may know it")


def is_listed(path: str, name: str) -> bool:
    return any(
        fnmatchcase(path, pattern.replace("<game>", name)) and path.count("/") == pattern.count("/")
        for pattern in LISTED
    )


def test_every_file_that_knows_a_game_is_on_the_page() -> None:
    skipped = {"__pycache__", "node_modules", "target", "build"}
    missing = []
    for path in (CONTRACT, *(path for package in PACKAGES for path in (ROOT / package).rglob("*"))):
        if path.suffix in CODE and not skipped & set(path.parts):
            text = f"{path.name} {path.read_text(errors='replace')}"
            named = [name for name in NAMES if re.search(rf"(?<![a-z]){name}(?![a-z])", text)]
            where = path.relative_to(ROOT).as_posix()
            missing += [f"{where} names {name}" for name in named if not is_listed(where, name)]
    assert not missing, "docs/adding-a-game.md does not say so"
