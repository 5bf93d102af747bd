"""Self-play with observations: random games of `stich.env` and of RLCard, in the same loop.

python -m benchmarks.rules.self_play stich doudizhu 3
python -m benchmarks.rules.self_play rlcard
"""

import json
import random
import sys
from collections.abc import Callable
from dataclasses import replace

from benchmarks.figures import Figure, Section, rate
from benchmarks.rules.random_games import RACES, TABLES, Program, best, rlcard
from stich.env import Environment

AIM = 20


def stich(name: str, players: int) -> Callable[[int], int]:
    """Plays a random game of one deal: at each step an observation and a row for each move."""
    environment = Environment(name, players, {"deals": 1})
    random_ = random.Random(1)

    def play(i: int) -> int:
        environment.reset(seed=i)
        for _ in environment.agent_iter():
            _, _, over, _, info = environment.last()
            environment.step(None if over else int(random_.random() * len(info["moves"])))
        return 1

    return play


def sections() -> list[Section]:
    """Every game in pure Python, compared with RLCard's Dou Dizhu."""
    module = "benchmarks.rules.self_play"
    first, *others = [Program((module, "stich", name, str(players))) for name, players in TABLES]
    rates = best(RACES, Program((module, "rlcard")), first)
    peers = rates.pop(0)
    rates += best(1, *others)
    figures = [
        Figure(f"{name}, {players} players", ours, "RLCard 1.2.0", peers, "games/s", ours / peers)
        for (name, players), ours in zip(TABLES, rates, strict=True)
    ]
    return [
        Section(
            "Self-play",
            "Random games of one deal with an observation at each step and a row for each legal"
            " move, as RLCard makes them for Dou Dizhu, all in pure Python. One process each, in"
            f" turns; the best of {RACES} rounds of 2 s of processor time.",
            [replace(figures[0], aim=AIM), *figures[1:]],
            "The rules without observations play some 19 times as many games as RLCard, so this"
            " loop cannot reach the aim: arrays for each decision cost more than the rules.",
        )
    ]


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    work = rlcard() if what == "rlcard" else stich(rest[0], int(rest[1]))
    print(json.dumps({"rate": rate(work)}))
