"""The requests per second of a cup, compared with a bare loop of `requests` to the same bot.

The cup is three greedy bots at one table; the bare loop posts the same request to one greedy bot
again and again. To show the use of cores, two tables are compared with one.
"""

import json
import time
from contextlib import closing

import requests

from benchmarks.cups.setup import GREEDY, body, cup_file, play
from benchmarks.figures import Figure, Section
from tournament.bot.launch import prepare_launch
from tournament.bot.started_bot import start
from tournament.config.cup import Bot, Limits
from tournament.store.store import Store

AIM = 0.75
CORES_AIM = 1.7
SECONDS = 4.0
ROUNDS = 2


def bare_loop() -> float:
    """Requests per second of the simplest client: one session, one prepared request, no runner."""
    bot = Bot("greedy", GREEDY)
    launch, _ = prepare_launch([bot], Limits(), 60_000, sandbox=False)
    with closing(start(bot, launch)) as greedy, requests.Session() as session:
        session.trust_env = False
        headers = {"Content-Type": "application/json"}
        request = requests.Request("POST", f"{greedy.url}/move", headers, data=body()).prepare()
        session.send(request).raise_for_status()
        done = 0
        began = time.perf_counter()
        while (spent := time.perf_counter() - began) < SECONDS:
            json.loads(session.send(request).content)
            done += 1
    return done / spent


def cup(concurrency: int, deals: int) -> tuple[float, float]:
    """Play a cup. Return requests per second with start-up, and processor ms per request."""
    bots = 3 if concurrency == 1 else 4
    with cup_file(bots, deals, concurrency, ask_forced=True) as file:
        played = play(file)
        with Store.open(played.folder) as store:
            requests = sum(len(seat) for match in store.matches() for seat in match.times)
    return requests / played.seconds, played.core_s / requests * 1000


def sections() -> list[Section]:
    """One table compared with the bare loop, and two tables compared with one."""
    loops, ones, twos = [], [], []
    for _ in range(ROUNDS):
        loops.append(bare_loop())
        ones.append(cup(1, 400))
        twos.append(cup(2, 200))
    loop, one, two = max(loops), max(ones), max(twos)
    unit = "requests/s"
    names = [
        f"{tables} ({core_ms:.2f} ms of processor time per request)"
        for tables, (_, core_ms) in (("one table", one), ("two tables", two))
    ]
    return [
        Section(
            "A cup compared with a bare loop of requests",
            "Three-player Dou Dizhu with greedy bots that the runner starts, including start-up and"
            f" the store; in turns, the best of {ROUNDS} rounds. Forced moves are asked for too, as"
            " the cost of a request counts. The processor time is that of the runner and the bots.",
            [
                Figure.more(names[0], one[0], "bare loop of requests, one bot", loop, unit, AIM),
                Figure.more(names[1], two[0], "one table", one[0], unit, CORES_AIM),
            ],
            "With two tables, each has half of the cores to itself, so its requests stay on the"
            " same cores. One table alone may use all cores.",
        )
    ]
