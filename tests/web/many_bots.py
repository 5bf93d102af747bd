"""Many authors in one process: `python -m tests.web.many_bots ARENA TOKEN …`.

Each connects a small bot of its own, and ends when the cup is over.
"""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack

from tests.tournament import hostile
from tournament.bot.launch import LaunchSettings
from tournament.bot.started_bot import reach
from tournament.config import Bot, Limits
from web.gateway.connector import Connector

PRINTING = threading.Lock()


def main(arena: str, *tokens: str) -> None:
    """Connect a bot with each token; print a line for each that is told that the cup is over."""
    with ExitStack() as stack:
        threads = []
        for number, token in enumerate(tokens):
            url = stack.enter_context(hostile.running(hostile.toy(f"toy-{number % 3}")))
            bot = reach(Bot(url, url=url), LaunchSettings(Limits(), 60_000))
            connector = Connector(arena, token, [bot], say)
            threads.append(threading.Thread(target=connector.run))
            threads[-1].start()
        for thread in threads:
            thread.join()


def say(text: str) -> None:
    """Print what happens; standard output is not made for several threads at once."""
    with PRINTING:
        sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
