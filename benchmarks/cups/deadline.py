"""How long a request takes beyond its deadline, compared with `requests` and the same timeout.

The bots are those of the tests that never end their answer. The timeout of `requests` bounds each
read, so a bot that drips bytes never exceeds it; that peer is given up after some seconds.
"""

from __future__ import annotations

import threading
import time

import requests

from benchmarks.figures import Figure, Section
from tests.tournament import hostile
from tournament.bot.client import dial_url
from tournament.bot.url_bot import HttpBot

DEADLINE_S = 0.1
REQUESTS = 30
GIVEN_UP_S = 3.0
PROMISE_MS = 100.0
WAYS = [how for how, (_, kind) in hostile.WAYS.items() if kind == "timeout"]
BODY = b'{"turn": 1, "moves": ["pass"]}'


def overshoots(url: str) -> list[float]:
    """Milliseconds beyond the deadline, one for each request."""
    bot = HttpBot(url, dial_url(url))
    found = []
    for _ in range(REQUESTS):
        start = time.perf_counter()
        bot.move(BODY, DEADLINE_S)
        found.append((time.perf_counter() - start - DEADLINE_S) * 1000)
    bot.close()
    return found


def peer_overshoot(url: str) -> float:
    """The same for one call of `requests`, stopped after GIVEN_UP_S seconds."""
    ended = threading.Event()

    def ask() -> None:
        try:
            requests.post(f"{url}/move", data=BODY, timeout=DEADLINE_S)
        except requests.RequestException:
            pass
        finally:
            ended.set()

    start = time.perf_counter()
    threading.Thread(target=ask, daemon=True).start()
    ended.wait(GIVEN_UP_S)
    return (time.perf_counter() - start - DEADLINE_S) * 1000


def sections() -> list[Section]:
    """One row for each way never to finish an answer."""
    figures = []
    for how in WAYS:
        with hostile.running(hostile.WAYS[how][0]) as url:
            ours, peers = max(overshoots(url)), peer_overshoot(url)
        figures.append(
            Figure(how, ours, "requests, timeout=0.1", peers, "ms late", PROMISE_MS / ours, 1.0)
        )
    return [
        Section(
            "Misbehaving bots beyond their deadline",
            f"Bots that never finish their answer, asked {REQUESTS} times with a deadline of"
            f" {DEADLINE_S * 1000:.0f} ms: the longest time beyond the deadline. The ratio is that"
            f" of the promised {PROMISE_MS:.0f} ms to our time. The peer was stopped after"
            f" {GIVEN_UP_S:g} s.",
            figures,
        )
    ]
