"""Play a run to its end: what `stich run` and `stich duel` share."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack

from rich.console import Console

from tournament.bot.url_bot import StartError
from tournament.config import Cup
from tournament.formats import Schedule
from tournament.run.executor import Executor
from tournament.run.progress import JsonLines, SoFar, watch
from tournament.run.runner import Observer, Runner
from tournament.store.store import Store
from tournament.text import plural


def play_all(
    cup: Cup,
    schedule: Schedule,
    store: Store,
    executor: Executor,
    events: JsonLines | None,
    console: Console,
    warnings: Sequence[str] = (),
    so_far: SoFar = lambda: "",
) -> None:
    """Play what is still to be played; progress goes to `events`, or without it to the console,
    which writes to standard error, with what the matches have shown `so_far`.

    `warnings` that are not empty are printed to standard error once all bots are ready.
    StartError if a bot cannot play; RunError or StoreError if the run cannot continue.
    """
    # The standings need numpy, which takes a while to import: do it while bots start.
    loading = threading.Thread(
        target=importlib.import_module, args=("tournament.results.standings",), daemon=True
    )
    loading.start()
    with ExitStack() as stack:
        stack.callback(loading.join)  # a process that ends while it loads may crash
        runner = stack.enter_context(Runner(cup, schedule, store, executor))
        if events is None:
            started = sum(bot.command is not None for bot in cup.bots)
            called = f" and calling {len(cup.bots) - started}" if started < len(cup.bots) else ""
            console.print(f"Starting {plural(started, 'bot')}{called} ...", highlight=False)
        problems = runner.inspect()
        if problems:
            raise StartError("\n".join(problems))
        for warning in filter(None, warnings):
            sys.stderr.write(f"{warning}\n")
        observer: Observer = events or stack.enter_context(watch(console, cup.name, so_far))
        runner.run(observer)
