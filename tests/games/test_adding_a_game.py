"""docs/adding-a-game.md lists every file that mentions a game by name."""

import ast
import re
from fnmatch import fnmatchcase
from pathlib import Path

import games

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "adding-a-game.md").read_text()
PACKAGES = (
    "games",
    "learning",
    "serving",
    "service",
    "tournament",
    "bots",
    "stich",
    "benchmarks",
    "examples",
)
CODE = {".py", ".toml", ".yaml", ".js", ".mjs", ".ts", ".java", ".go", ".rs", ".cpp", ".hpp"}
# Help texts and comments use Dou Dizhu as the example; they do not mention the others.
NAMES = [name for name in games.GAMES if name != "doudizhu"]


def patterns(heading: str) -> list[str]:
    """The first column of the table under a heading."""
    section = re.split(r"^## ", PAGE.partition(f"## {heading}")[2], flags=re.MULTILINE)[0]
    found = re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)
    assert found
    return found


LISTED = patterns("What a game needs") + patterns("What else may know it")


def sources() -> list[Path]:
    found = [path for package in PACKAGES for path in (ROOT / package).rglob("*")]
    found.append(ROOT / "openapi.yaml")
    skipped = {"__pycache__", "node_modules", "target", "build"}
    return [path for path in found if path.suffix in CODE and not skipped & set(path.parts)]


def names_in(path: Path) -> set[str]:
    """The games that a file mentions, in its text or its name."""
    text = path.name + " " + path.read_text(errors="replace")
    return {name for name in NAMES if re.search(rf"(?<![a-z]){name}(?![a-z])", text)}


def matches(path: str, pattern: str, name: str) -> bool:
    return fnmatchcase(path, pattern.replace("<game>", name)) and (
        path.count("/") == pattern.count("/")
    )


def test_every_file_that_knows_a_game_is_on_the_page() -> None:
    missing = [
        f"{where} names {name}"
        for path in sources()
        for where in [path.relative_to(ROOT).as_posix()]
        for name in sorted(names_in(path))
        if not any(matches(where, pattern, name) for pattern in LISTED)
    ]
    assert not missing, "docs/adding-a-game.md does not say so"


def above() -> list[Path]:
    return [path for package in ("tournament", "stich") for path in (ROOT / package).rglob("*.py")]


def fields() -> set[str]:
    """The fields that states or views of some games have, but not of all."""
    found = []
    for game in games.GAMES.values():
        state = game.start(None, "fields", {})
        found.append(set(state.to_dict()) | set(state.view(0).to_dict()))
    # Bots sit at a table too.
    return set[str]().union(*found) - found[0].intersection(*found) - {"table"}


def constants(path: Path) -> set[str]:
    """The strings in a module, without docstrings."""
    tree = ast.parse(path.read_text())
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
    }


# Where a word that is also a field of some games may occur, and why.
ALLOWED = {
    # Positions for `stich check` are made by hand, game by game.
    "tournament/check/positions.py": fields(),
    # Kinds of moves, not fields.
    "tournament/display/replay.py": {"bid", "trump"},
    "stich/console/card_text.py": {"bid", "trump"},
    "stich/console/play_screen.py": {"bid", "trump"},
}


def test_the_rooms_above_read_no_field_of_some_games_only() -> None:
    """The facts that a person sees come from Game.facts and Game.roles."""
    assert {"declarer", "trump", "taken", "called", "doublings", "targets", "owed"} <= fields()
    read = {path.relative_to(ROOT).as_posix(): constants(path) & fields() for path in above()}
    assert {
        path: names - ALLOWED.get(path, set())
        for path, names in read.items()
        if names - ALLOWED.get(path, set())
    } == {}
    page = (ROOT / "web" / "ui" / "static" / "table.js").read_text("utf-8")
    assert not set(re.findall(r"\.(\w+)", page)) & fields()
