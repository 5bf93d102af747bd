"""Run every benchmark and write docs/benchmarks.md: `make bench`.

`python -m benchmarks service.http …` runs some of them and writes nothing.
"""

import importlib
import sys

from benchmarks import ROOT
from benchmarks.figures import Section, machine, summary

MODULES = (
    "rules.random_games",
    "rules.worlds",
    "rules.joker_lists",
    "service.http",
    "service.worst_bodies",
    "cups.cup",
    "cups.deadline",
    "cups.connected",
    "cups.many_bots",
    "cups.cluster",
    "cups.spectators",
    "cups.standings",
    "cups.growth",
    "cups.decisions",
    "ranking.claims",
    "ranking.recall",
    "ranking.ladders",
    "ranking.duels",
    "ranking.soft_play",
)
PAGE = ROOT / "docs" / "benchmarks.md"

HEAD = """# Benchmarks

`make bench` writes this page. Each figure is compared with a peer that was measured in the same
run. A ratio above 1 means that ours is better, unless the section says otherwise. ✓ means that the
ratio reaches its aim.

Measured on: {machine}.
"""


def main(names: list[str]) -> None:
    """Run all benchmarks and write the page, or run only those named and print them."""
    sections: list[Section] = []
    for name in names or MODULES:
        print(f"{name} ...", file=sys.stderr, flush=True)
        measured: list[Section] = importlib.import_module(f"benchmarks.{name}").sections()
        sections += measured
        for section in measured:
            print(section.text(), flush=True)
    if not names:
        PAGE.write_text(
            "\n".join(
                [HEAD.format(machine=machine()), summary(sections), *(s.text() for s in sections)]
            )
        )
        print(f"Written to {PAGE.relative_to(ROOT)}.")


if __name__ == "__main__":
    main(sys.argv[1:])
