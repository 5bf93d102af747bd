"""What the sandbox costs: a move of a bot in it and of the same bot outside."""

from __future__ import annotations

import statistics
from contextlib import closing

from benchmarks.cups.setup import GREEDY, body
from benchmarks.figures import Figure, Section
from tournament.bot.launch import prepare_launch
from tournament.bot.started_bot import start
from tournament.bot.url_bot import Choice
from tournament.config import Bot, Limits

AIM = 0.95
MOVES = 3000


def move_times() -> tuple[list[float], list[float]]:
    """Milliseconds of moves of a greedy bot in the sandbox and of one without it, in turns."""
    bot = Bot("greedy", GREEDY)
    inside, outside = (
        prepare_launch([bot], Limits(), 60_000, sandbox=it)[0] for it in (True, False)
    )
    request = body()
    times: tuple[list[float], list[float]] = ([], [])
    with closing(start(bot, inside)) as within, closing(start(bot, outside)) as without:
        for _ in range(MOVES):
            for started, into in zip((within, without), times, strict=True):
                outcome = started.move(request, 60)
                if not isinstance(outcome, Choice):
                    raise RuntimeError(outcome.detail)
                into.append(outcome.elapsed_s * 1000)
    return times


def sections() -> list[Section]:
    """A move in the sandbox compared with one outside."""
    inside, outside = map(statistics.median, move_times())
    return [
        Section(
            "Bots with and without the sandbox",
            f"The median of {MOVES:,} moves of greedy bots, one in the sandbox and one without it,"
            " in turns.",
            [
                Figure(
                    "a move in the sandbox",
                    inside,
                    "without it",
                    outside,
                    "ms",
                    outside / inside,
                    AIM,
                )
            ],
        )
    ]
