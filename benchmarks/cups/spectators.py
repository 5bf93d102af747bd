"""The rate of a cup with 200 spectators, compared with the same cup without any.

`python -m benchmarks.cups.spectators PORT COUNT` runs only the spectators, as a process.
"""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.cups.setup import core_seconds, cup_file, events, started
from benchmarks.figures import Figure, Section
from stich.processes import find_port

SPECTATORS = 200
ROUNDS = 3
DEALS = 100
AIM = 0.95
EVERY_S = 5.0  # as in web/ui/static/live.js


class WatchedCup(NamedTuple):
    """A cup with spectators: the matches, the seconds they took, and the cost.

    `cup_s` are the processor seconds of the runner and its bots, and `pages_s` those of the page
    server. `sent` is the number of pages that it sent.
    """

    matches: int
    seconds: float
    cup_s: float
    pages_s: float
    sent: int = 0


def play(count: int) -> WatchedCup:
    """Play a cup with this number of spectators on its live page.

    The cup is paused until all of them have the page. The measurement ends with the last match.
    """
    with ExitStack() as stack:
        file = stack.enter_context(cup_file(4, DEALS, 2))
        out = file.with_name("out")
        run = stack.enter_context(started("stich", "run", file, "--out", out, "--json"))
        names = (event["event"] for event in events(run))
        next(event for event in names if event == "begin")
        _decide("pause", out)
        port = find_port("127.0.0.1", 0)
        pages = stack.enter_context(started("stich", "arena", out, "--port", port))
        watching = stack.enter_context(started("benchmarks.cups.spectators", port, count))
        next(iter(watching.stdout or ()))

        def used() -> list[float]:
            return [core_seconds(run.pid), core_seconds(pages.pid)]

        next(event for event in names if event == "decision")
        _decide("resume", out)
        next(event for event in names if event == "decision")
        before, began, matches = used(), time.perf_counter(), 0
        for event in names:
            if event == "match":
                matches += 1
                ended, after = time.perf_counter(), used()
            if event == "finished":
                break
        watching.terminate()
        sent = int(watching.stdout.read()) if watching.stdout else 0
        cup_s, pages_s = (now - then for now, then in zip(after, before, strict=True))
        return WatchedCup(matches, ended - began, cup_s, pages_s, sent)


def _decide(command: str, run: Path) -> None:
    subprocess.run([sys.executable, "-m", "stich", command, run], check=True, capture_output=True)


class Spectators:
    """Browsers that ask for the live page every few seconds, with the ETag of their last answer."""

    def __init__(self, port: int, count: int) -> None:
        self._port = port
        self._missing = count
        self.ready = asyncio.Event()
        self.sent = 0

    async def watch(self) -> None:
        """Watch as one spectator, who reconnects if the connection breaks."""
        etag = ""
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
                while True:
                    seen, etag = etag, await self._look(reader, writer, etag)
                    self._missing -= not seen
                    if not self._missing:
                        self.ready.set()
                    await asyncio.sleep(EVERY_S * random.uniform(0.8, 1.2))
            except (OSError, EOFError):
                await asyncio.sleep(1)

    async def _look(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, etag: str
    ) -> str:
        writer.write(f"GET / HTTP/1.1\r\nHost: x\r\nIf-None-Match: {etag}\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
        await reader.readexactly(int(fields.get("content-length", 0)))
        self.sent += head.startswith("http/1.1 200 ")
        return fields["etag"]


async def _watch(port: int, count: int) -> None:
    os.nice(19)  # they would be on other machines
    spectators = Spectators(port, max(count, 1))
    watching = [asyncio.create_task(spectators.watch()) for _ in range(max(count, 1))]
    await spectators.ready.wait()
    if not count:  # the page was there once
        watching[0].cancel()
    print("All have the page.", flush=True)
    spectators.sent = 0
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    await stopped.wait()
    print(spectators.sent)
    for task in watching:
        task.cancel()


def sections() -> list[Section]:
    """Cups with and without spectators, in turns."""
    pairs = [(play(0), play(SPECTATORS)) for _ in range(ROUNDS)]
    rates = [[cup.matches / cup.seconds for cup in pair] for pair in pairs]
    costs = [[cup.cup_s / cup.matches * 1000 for cup in pair] for pair in pairs]
    watched_cups = [cup for _, cup in pairs]
    share = median(cup.cup_s / (cup.cup_s + cup.pages_s) for cup in watched_cups)
    pages_ms = median(cup.pages_s / cup.seconds * 1000 for cup in watched_cups)
    sent = median(cup.sent / cup.seconds for cup in watched_cups)
    (alone, watched), (cost, cost_watched) = (
        map(median, zip(*values, strict=True)) for values in (rates, costs)
    )
    faster = median(after / before for before, after in rates)
    cheaper = median(before / after for before, after in costs)
    peer, cup_share = "without spectators", "processor time that is the cup's"
    core_time = "processor time of the runner and its bots"
    section = Section(
        f"A cup with {SPECTATORS} spectators",
        f"Cups of four greedy bots at two tables, all started by the runner, with {SPECTATORS}"
        " browsers that have the live page open and ask for it every five seconds, in turns with"
        f" the same cup without any: medians of {ROUNDS} pairs. Everything shares the machine,"
        f" whose load was {os.getloadavg()[1]:.0f} (of {os.cpu_count()} cores). The first row is"
        " exact where other work disturbs: of the processor time of runner, bots and server of the"
        " pages, the share that was the cup's. It is what is left of the rate where nothing of the"
        " machine is idle. The others are ratios of pairs.",
        [
            Figure.more(cup_share, 100 * share, "without pages", 100, "%", AIM),
            Figure("rate", watched, peer, alone, "matches/s", faster),
            Figure(core_time, cost_watched, peer, cost, "ms a match", cheaper),
        ],
        f"The server of the pages takes {pages_ms:.0f} ms of processor time a"
        f" second, and sends {sent:.0f} pages a second that have changed. The rates of single"
        " pairs vary with the load: only the first row is compared with an aim.",
    )
    return [section]


if __name__ == "__main__":
    asyncio.run(_watch(int(sys.argv[1]), int(sys.argv[2])))
