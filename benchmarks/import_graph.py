"""The import graph in numbers, for docs/architecture.md: `python -m benchmarks.import_graph`.

Modules and folders at the top of a package are its components. A component's level is one more than
the highest level of the components it imports.
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
    print("| package | components | levels | imports between components | modules | lines |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for package in PACKAGES:
        components = components_of(package, imports)
        between = sum(map(len, components.values()))
        modules = [name for name in imports if name.split(".")[0] == package]
        print(
            f"| `{package}/` | {len(components)} | {levels(components)} | {between}"
            f" | {len(modules)} | {lines(package)} |"
        )


def components_of(package: str, imports: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """The components of a package, each with the components that it imports."""
    components: dict[str, set[str]] = {}
    for importer, imported in imports.items():
        component = _component(importer, package)
        if component:
            others = {_component(name, package) for name in imported} - {"", component}
            components.setdefault(component, set()).update(others)
    return components


def _component(module: str, package: str) -> str:
    parts = module.split(".")
    return parts[1] if parts[0] == package and len(parts) > 1 else ""


def levels(components: Mapping[str, Iterable[str]]) -> int:
    """The number of levels; raises graphlib.CycleError if the components form a circle."""
    level: dict[str, int] = {}
    for component in TopologicalSorter(components).static_order():
        level[component] = 1 + max((level[other] for other in components[component]), default=0)
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
