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
    for floor in floors:
        package, least = floor.split("=")
        totals = [
            data["summary"]
            for name, data in files.items()
            if name.replace("\\", "/").startswith(f"{package}/")
        ]
        for what, covered, there in (
            ("lines", "covered_lines", "num_statements"),
            ("branches", "covered_branches", "num_branches"),
        ):
            share = 100 * sum(t[covered] for t in totals) / max(1, sum(t[there] for t in totals))
            print(f"{package}: {share:.1f} % of {what} (at least {least})")
            short += share < float(least)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
