"""Cups of many bots: the rate of matches compared with a cup of six.

The cups are gauntlets of Dou Dizhu with greedy bots at two tables.
"""

from math import comb

from benchmarks.cups.setup import PlayedCup, cup_file, play
from benchmarks.figures import Figure, Section

PLAYERS = 3
TABLES = 2
FEW, MANY = 6, 30
MATCHES = 2436
SLEEP_S = 2.0
AIM, SLOW_AIM = 0.9, 0.8


def cup(bots: int, sleep_s: float) -> PlayedCup:
    """Play a cup of bots that sleep for `sleep_s` before they listen."""
    deals = max(1, MATCHES // (PLAYERS * comb(bots - 1, PLAYERS - 1)))
    run = 'runpy.run_module("bots.greedy", run_name="__main__")'
    program = f"import runpy, time; time.sleep({sleep_s}); {run}"
    with cup_file(bots, deals, TABLES, command=f"python -c '{program}'", gauntlet=True) as file:
        return play(file)


def compare(sleep_s: float, aim: float, suffix: str) -> list[Figure]:
    """Compare a cup of MANY bots with one of FEW."""
    few, many = cup(FEW, sleep_s), cup(MANY, sleep_s)
    name, peer = f"{MANY} bots{suffix}", f"{FEW} bots"
    costs = [played.core_s / played.matches * 1000 for played in (many, few)]
    return [
        Figure.more(name, many.rate, peer, few.rate, "matches/s", aim),
        Figure.less(name, costs[0], peer, costs[1], "ms of processor time a match"),
    ]


def sections() -> list[Section]:
    """Bots that start immediately, and bots that start slowly."""
    return [
        Section(
            "Cups of many bots",
            f"Gauntlets of about {MATCHES:,} matches at {TABLES} tables, with greedy bots, from the"
            " first match to the last. Those that start slowly sleep before they listen.",
            [
                *compare(0.0, AIM, ""),
                *compare(SLEEP_S, SLOW_AIM, f" that take {SLEEP_S:g} s to start"),
            ],
            "Each of the three seatings of a block has its own processes, so that a bot never sees"
            f" the same cards twice: up to {3 * MANY} at each table here, and {3 * FEW} there.",
        )
    ]
