"""`python -m bots.kits`: the Debian packages that bring all toolchains, one a line."""

from __future__ import annotations

from bots.kits import catalogue

if __name__ == "__main__":
    for package in dict.fromkeys(p for kit in catalogue().values() for p in kit.packages):
        print(package)  # noqa: T201
