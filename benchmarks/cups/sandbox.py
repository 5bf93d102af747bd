"""What the sandbox costs: a move of a bot in it and of the same bot outside; and a cup without it,
compared with one before there was a sandbox."""

from __future__ import annotations

import io
import json
import statistics
import subprocess
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path

from benchmarks import ROOT
from benchmarks.cups.cup import cup
from benchmarks.figures import Figure, Section
from benchmarks.service.http import midgame
from tournament.bot.launch import prepare_launch
from tournament.bot.player import Choice
from tournament.bot.started_bot import start
from tournament.config import Bot, Limits

BEFORE = "c8416d8"
"""The last commit before the work on sandboxes, signatures and the watchdog."""

AIM = 0.95
MOVES = 3000
DEALS = 40
ROUNDS = 3


def move_times() -> tuple[list[float], list[float]]:
    """Milliseconds of moves of a greedy bot in the sandbox and of one without it, in turns."""
    state = midgame()
    view = state.view(state.turn or 0)
    about = {"protocol": 1, "match": "bench", "turn": 1, "clock": {"move_ms": 1000, "bank_ms": 0}}
    body = json.dumps({**about, "view": view.to_dict(), "moves": view.moves().texts()}).encode()
    bot = Bot("greedy", "python -m bots.greedy")
    inside, outside = (
        prepare_launch([bot], Limits(), 60_000, sandbox=it)[0] for it in (True, False)
    )
    times: tuple[list[float], list[float]] = ([], [])
    with closing(start(bot, inside)) as within, closing(start(bot, outside)) as without:
        for _ in range(MOVES):
            for started, into in zip((within, without), times, strict=True):
                outcome = started.move(body, 60)
                if not isinstance(outcome, Choice):
                    raise RuntimeError(outcome.detail)
                into.append(outcome.elapsed_s * 1000)
    return times


def processor_times() -> tuple[float, float]:
    """Processor ms per request of a cup without a sandbox, now and by the program of BEFORE."""
    with tempfile.TemporaryDirectory(prefix="stich-bench-") as name:
        command = ["git", "archive", BEFORE]
        archive = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(name, filter="data")
        cup(1, 1, root=Path(name))  # compiles it
        rounds = [
            (cup(1, DEALS, sandbox=False)[1], cup(1, DEALS, root=Path(name))[1])
            for _ in range(ROUNDS)
        ]
    now, then = zip(*rounds, strict=True)
    return min(now), min(then)


def sections() -> list[Section]:
    """Both comparisons."""
    inside, outside = map(statistics.median, move_times())
    now, then = processor_times()
    return [
        Section(
            "Bots with and without the sandbox",
            f"The median of {MOVES:,} moves of greedy bots, one in the sandbox and one without it,"
            f" in turns. Then a cup of three of them without it, {DEALS} deals with start-up and"
            f" the store, in turns with the program before there were sandboxes, signatures and"
            f" the watchdog (commit {BEFORE}); the least of {ROUNDS} rounds.",
            [
                Figure(
                    "a move in the sandbox",
                    inside,
                    "without it",
                    outside,
                    "ms",
                    outside / inside,
                    AIM,
                ),
                Figure(
                    "a request of a cup without the sandbox",
                    now,
                    "before",
                    then,
                    "ms of processor time, runner and bots",
                    then / now,
                    AIM,
                ),
            ],
        )
    ]
