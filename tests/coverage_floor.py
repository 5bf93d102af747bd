"""Fail if the coverage of a package, by lines and branches, is below its floor.

Usage: python coverage_floor.py coverage.json games=95 service=95
"""

import json
import sys
from pathlib import Path


def main(report: str, *floors: str) -> int:
    """Print the coverage of each package. Return 1 if a package is below its floor, else 0."""
    files = json.loads(Path(report).read_text())["files"]
    short = 0
    for package, least in (floor.split("=") for floor in floors):
        totals = [data["summary"] for name, data in files.items() if Path(name).parts[0] == package]
        for what, there in (("lines", "num_statements"), ("branches", "num_branches")):
            covered = sum(total[f"covered_{what}"] for total in totals)
            share = 100 * covered / max(1, sum(total[there] for total in totals))
            print(f"{package}: {share:.1f} % of {what} (at least {least})")
            short += share < float(least)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
