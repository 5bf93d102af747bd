import re
import tomllib
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires
from itertools import chain

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.support.pages import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
DEPENDENCIES = PYPROJECT["project"]["dependencies"]
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
GROUPS = PYPROJECT["dependency-groups"]
LOCKED_EXTRAS = (entries for extra, entries in EXTRAS.items() if extra != "bench")
NEEDED = {
    "requirements.lock": [*DEPENDENCIES, *GROUPS["build"]],
    "requirements-dev.lock": [*DEPENDENCIES, *chain(*LOCKED_EXTRAS)],
    "requirements-tox.lock": GROUPS["tox"],
}


def locked(name: str) -> dict[str, tuple[Version, int]]:
    """The packages of a lock file: version, and how many files have a hash."""
    packages: dict[str, tuple[Version, int]] = {}
    for line in (ROOT / name).read_text("utf-8").replace("\\\n", " ").splitlines():
        pinned = re.match(r"([a-z0-9.-]+)(?:\[[a-z, ]+\])?==([^ ;]+)", line)
        assert pinned, f"{name}: {line[:60]} is not pinned; run `make lock`"
        hashes = len(re.findall(r" --hash=sha256:[0-9a-f]{64}", line))
        packages[pinned[1]] = Version(pinned[2]), hashes
    return packages


@pytest.mark.parametrize("name", NEEDED)
def test_a_lock_has_what_the_project_needs_with_hashes(name: str) -> None:
    """Versions within the bounds of pyproject.toml, and the same in all locks."""
    versions, all_versions = locked(name), locked("requirements-dev.lock")
    assert {package for package, (_, hashes) in versions.items() if not hashes} == set()
    for requirement in map(Requirement, NEEDED[name]):
        if requirement.name != "stich":
            version, _ = versions[canonicalize_name(requirement.name)]
            assert requirement.specifier.contains(version), f"{requirement}: run `make lock`"
    assert {package for package in versions if versions[package] != all_versions[package]} == set()


def test_locks_name_the_extras_that_packages_require() -> None:
    """pip before 23.3 takes `coverage[toml]` for unpinned if only `coverage` is locked."""
    text = (ROOT / "requirements-dev.lock").read_text("utf-8")
    locked_extras = {
        canonicalize_name(entry[1]): {*re.findall(r"\w+", entry[2] or "")}
        for entry in re.finditer(r"^([a-z0-9.-]+)(\[[a-z, ]+\])?==", text, re.MULTILINE)
    }
    for package in locked_extras:
        with suppress(PackageNotFoundError):
            for requirement in map(Requirement, requires(package) or ()):
                if requirement.marker is None:
                    name = canonicalize_name(requirement.name)
                    assert requirement.extras <= locked_extras[name], f"{package}: {requirement}"
