"""What the sandbox costs: a cup with it and without it, and without it before there was one."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from pathlib import Path

from benchmarks.compiled import ROOT
from benchmarks.cup import cup
from benchmarks.figures import Figure, Section

BEFORE = "c8416d8"
"""The last commit before the work on sandboxes, signatures and the watchdog."""

AIM = 0.95
DEALS = 40
ROUNDS = 2


def sections() -> list[Section]:
    """Cups in turns: with the sandbox, without it, and without it by the program of BEFORE."""
    with tempfile.TemporaryDirectory(prefix="stich-bench-") as name:
        before = Path(name)
        command = ["git", "archive", BEFORE]
        archive = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(before, filter="data")
        cup(1, 10, root=before)  # compiles it
        rounds = [
            (
                cup(1, DEALS, sandbox=True),
                cup(1, DEALS, sandbox=False),
                cup(1, DEALS, root=before),
            )
            for _ in range(ROUNDS)
        ]
    inside, outside, old = (list(runs) for runs in zip(*rounds, strict=True))
    with_it, without = (max(rate for rate, _ in runs) for runs in (inside, outside))
    now, then = (min(cost for _, cost in runs) for runs in (outside, old))
    return [
        Section(
            "A cup with and without the sandbox",
            f"Three-player Dou Dizhu with greedy bots, {DEALS} deals, with start-up and the store;"
            f" in turns, the best of {ROUNDS} rounds. The peer of the second row is the program"
            " before there were sandboxes, signatures and the watchdog (commit"
            f" {BEFORE}).",
            [
                Figure(
                    "with the sandbox",
                    with_it,
                    "without it",
                    without,
                    "requests/s",
                    with_it / without,
                    AIM,
                ),
                Figure(
                    "without the sandbox",
                    now,
                    "before",
                    then,
                    "ms of processor time per request, runner and bots",
                    then / now,
                    AIM,
                ),
            ],
            "The processor time of a bot in the sandbox is not shown: the kernel does not add that"
            " of processes which end with their namespace.",
        )
    ]
