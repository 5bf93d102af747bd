"""How long a request takes beyond its deadline, compared with the promise.

The bots are those from the tests that never finish an answer.
"""

import time
from contextlib import closing

from benchmarks.figures import Figure, Section
from tools import hostile
from tournament.bot.client import dial_url
from tournament.bot.url_bot import HttpBot

DEADLINE_S = 0.1
REQUESTS = 30
PROMISE_MS = 100.0
WAYS = [how for how, (_, kind) in hostile.WAYS.items() if kind == "timeout"]
BODY = b'{"turn": 1, "moves": ["pass"]}'


def overshoots(url: str) -> list[float]:
    """The milliseconds that each request takes beyond its deadline."""
    late_ms = []
    with closing(HttpBot(url, dial_url(url))) as bot:
        for _ in range(REQUESTS):
            start = time.perf_counter()
            bot.move(BODY, DEADLINE_S)
            late_ms.append((time.perf_counter() - start - DEADLINE_S) * 1000)
    return late_ms


def sections() -> list[Section]:
    """One row for each way of never finishing an answer."""
    figures = []
    for how in WAYS:
        with hostile.running(hostile.WAYS[how][0]) as url:
            ours = max(overshoots(url))
        figures.append(Figure.less(how, ours, "limit", PROMISE_MS, "ms late", 1.0))
    return [
        Section(
            "Misbehaving bots beyond their deadline",
            f"Bots that never finish their answer, asked {REQUESTS} times with a deadline of"
            f" {DEADLINE_S * 1000:.0f} ms: the longest time beyond the deadline.",
            figures,
        )
    ]
