"""`python -m bots.kits`: print the Debian packages that the kits' toolchains still need."""

from bots.kits import catalogue

if __name__ == "__main__":
    for package in dict.fromkeys(p for kit in catalogue().values() for p in kit.missing()):
        print(package)  # noqa: T201 (tests/install-system-packages.sh reads it)
