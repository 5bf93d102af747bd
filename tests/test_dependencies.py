"""Each dependency has bounds, and hashes in the lock files."""

import re
import tomllib
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-tox.lock")


def test_every_dependency_has_an_upper_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for entry in (
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *chain(*project["project"]["optional-dependencies"].values()),
        *chain(*project["dependency-groups"].values()),
    ):
        bounds = {part.operator for part in Requirement(entry).specifier}
        assert entry.startswith("stich[") or bounds & {"<", "=="}, entry


def locked(name: str) -> dict[str, tuple[Version, int]]:
    """The packages of a lock file: version, and how many files have a hash."""
    text = (ROOT / name).read_text("utf-8").replace("\\\n", " ")
    packages: dict[str, tuple[Version, int]] = {}
    for line in text.splitlines():
        pinned = re.match(r"([a-z0-9.-]+)(?:\[[a-z, ]+\])?==([^ ;]+)", line)
        assert pinned, f"{name}: {line[:60]} is not pinned; run `make lock`"
        packages[pinned[1]] = (
            Version(pinned[2]),
            len(re.findall(r" --hash=sha256:[0-9a-f]{64}", line)),
        )
    return packages


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_a_hash_for_every_file(name: str) -> None:
    assert {package for package, (_, hashes) in locked(name).items() if not hashes} == set()


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_what_the_project_needs(name: str) -> None:
    """Versions within the bounds of pyproject.toml, and the same in all locks."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    needed = {
        "requirements.lock": project["project"]["dependencies"]
        + project["dependency-groups"]["build"],
        "requirements-dev.lock": [
            *project["project"]["dependencies"],
            *(entry for extra, entries in extras.items() if extra != "bench" for entry in entries),
        ],
        "requirements-tox.lock": project["dependency-groups"]["tox"],
    }[name]
    versions, all_versions = locked(name), locked("requirements-dev.lock")
    for requirement in map(Requirement, needed):
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


def test_what_builds_stich_is_a_build_requirement() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert {*project["dependency-groups"]["build"]} <= {*project["build-system"]["requires"]}


def test_nothing_is_installed_without_its_hash() -> None:
    for name in ("Makefile", "tox.ini"):
        text = (ROOT / name).read_text("utf-8")
        for line in text.splitlines():
            installs = "pip install" in line and not line.startswith("PIP :=")
            if installs and "VENV)-lock" not in line:
                assert "--require-hashes" in line or "--no-deps" in line or "{packages}" in line
    workflows = (ROOT / ".github" / "workflows").glob("*.yaml")
    for line in (line for path in workflows for line in path.read_text("utf-8").splitlines()):
        assert "pip install" not in line or "--require-hashes" in line, line
