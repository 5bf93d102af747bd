"""The import graph in numbers, for docs/architecture.md: `python -m benchmarks.import_graph`.

Modules and folders at the top of a package are its rooms. A room's level is one more than the
highest level of the rooms it imports.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

PACKAGES = ("games", "service", "tournament", "bots", "stich")


def main() -> None:
    """Print a row for each package."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    print("| package | rooms | levels | imports between rooms | modules | lines |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for package in PACKAGES:
        rooms = rooms_of(package, imports)
        between = sum(map(len, rooms.values()))
        modules = [name for name in imports if name.split(".")[0] == package]
        print(
            f"| `{package}/` | {len(rooms)} | {levels(rooms)} | {between}"
            f" | {len(modules)} | {lines(package)} |"
        )


def rooms_of(package: str, imports: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """The rooms of a package, each with the rooms that it imports."""
    rooms: dict[str, set[str]] = {}
    for importer, imported in imports.items():
        room = _room(importer, package)
        if room:
            others = {_room(name, package) for name in imported} - {"", room}
            rooms.setdefault(room, set()).update(others)
    return rooms


def _room(module: str, package: str) -> str:
    parts = module.split(".")
    return parts[1] if parts[0] == package and len(parts) > 1 else ""


def levels(rooms: Mapping[str, Iterable[str]]) -> int:
    """How many levels the rooms have; graphlib.CycleError if they import each other in a circle."""
    level: dict[str, int] = {}
    for room in TopologicalSorter(rooms).static_order():
        level[room] = 1 + max((level[other] for other in rooms[room]), default=0)
    return max(level.values(), default=0)


def lines(package: str) -> int:
    """Lines of Python, without the starter kits in other folders."""
    listed = subprocess.run(
        ["git", "ls-files", f"{package}/*.py"], check=True, capture_output=True, text=True
    )
    files = [Path(name) for name in listed.stdout.split() if "/kits/" not in name]
    return sum(len(path.read_text().splitlines()) for path in files)


if __name__ == "__main__":
    main()
