"""Measures the processor time of the worst request bodies, compared with parsing them as JSON."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from benchmarks.figures import Figure, Section
from tools.worst_bodies import bodies, client

AIM_MS = 100
SHOWN = 8
ROUNDS = 5


def milliseconds(work: Callable[[], object], rounds: int) -> float:
    """Call `work` this many times, and return the shortest processor time of a call in ms."""
    times = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        times.append((time.process_time() - began) * 1000)
    return min(times)


def sections() -> list[Section]:
    """Measure all bodies, and return the figures of those that take longest."""
    service = client()

    def post(operation: str, body: bytes) -> int:
        path = f"/v1/{operation}"
        return service.post(path, data=body, content_type="application/json").status_code

    def parse(body: bytes) -> None:
        with suppress(ValueError, RecursionError):
            json.loads(body)

    number = 0
    slowest: list[tuple[float, str, bytes]] = []
    for operation, what, body in bodies():
        number += 1
        answer = partial(post, operation, body)
        spent = milliseconds(answer, 1)
        if spent > AIM_MS / 3:
            spent = milliseconds(answer, ROUNDS)
        if len(slowest) < SHOWN or spent > slowest[-1][0]:
            name = f"/v1/{operation}, {what} ({len(body):,} bytes; {answer()})"
            slowest = sorted([*slowest, (spent, name, body)], reverse=True)[:SHOWN]
    figures = []
    for spent, name, body in slowest:
        parsed = milliseconds(partial(parse, body), ROUNDS)
        figures.append(Figure.less(name, spent, "limit", AIM_MS, "ms", 1))
        figures.append(Figure.less(name, spent, "json.loads of it", parsed, "ms"))
    return [
        Section(
            "The worst bodies",
            f"Processor time of the service in one process, pure Python, for {number:,} bodies"
            f" of at most 1 MiB; the {SHOWN} that took longest, the best of {ROUNDS}.",
            figures,
        )
    ]
