"""From a store that has begun to its end: what `stich run` and `stich duel` share."""

from __future__ import annotations

import importlib
import threading
from contextlib import ExitStack

from rich.console import Console

from tournament.bot.process import LaunchSettings, StartError
from tournament.config import Cup
from tournament.formats import Schedule
from tournament.run.progress import Json, watching
from tournament.run.runner import Observer, Runner
from tournament.store.store import Store


def play_all(
    cup: Cup,
    schedule: Schedule,
    store: Store,
    launch: LaunchSettings,
    said: Json | None,
    console: Console,
) -> None:
    """Play what is still to be played, shown as JSON lines or on the console.

    StartError if a bot cannot play; RunError or StoreError if the run cannot go on.
    """
    # numpy and scipy take a second to load; nothing waits for them while bots start.
    threading.Thread(
        target=importlib.import_module, args=("tournament.results.standings",), daemon=True
    ).start()
    with ExitStack() as stack:
        runner = stack.enter_context(Runner(cup, schedule, store, launch))
        runner.hire()
        found = runner.inspect()
        if found:
            raise StartError("\n".join(found))
        observer: Observer = said or stack.enter_context(watching(console, cup.name))
        runner.run(observer)
