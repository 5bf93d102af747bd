"""Random complete games through the public API of games/, for every game and number of players.

Run as a program, it measures one thing and prints a JSON object. The other libraries and the
compiled rules are measured this way, in separate processes.

    python -m benchmarks.rules.random_games stich doudizhu 3
    python -m benchmarks.rules.random_games openspiel
    python -m benchmarks.rules.random_games rlcard
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from functools import partial

import games
from benchmarks import ROOT
from benchmarks.figures import Figure, Section, rate
from tools.wheel import Installed, installed_wheel

TABLES = [
    (game.name, players)
    for game in games.GAMES.values()
    for players in range(game.min_players, game.max_players + 1)
]
ROUNDS, RACES = 2, 6


def stich(name: str, players: int) -> Callable[[int], int]:
    """Return a function that plays a random game of one deal on the i-th seed, and returns 1.

    Each move is taken from the list and checked again.
    """
    game = games.get(name)
    random_ = random.Random(1)
    options = {"deals": 1}

    def play(i: int) -> int:
        state = game.start(players, f"bench-{i}", options)
        while state.turn is not None:
            moves = state.moves()
            state = state.advance(moves[int(random_.random() * len(moves))])
        return 1

    return play


def openspiel() -> Callable[[int], int]:
    """Return a function that plays a random game of OpenSpiel's dou_dizhu, and returns 1.

    The deal, the bids and the plays are chosen uniformly.
    """
    import pyspiel  # need not be installed

    game = pyspiel.load_game("dou_dizhu")
    random_ = random.Random(1)

    def play(i: int) -> int:
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes = state.chance_outcomes()
                action = outcomes[int(random_.random() * len(outcomes))][0]
            else:
                actions = state.legal_actions()
                action = actions[int(random_.random() * len(actions))]
            state.apply_action(action)
        return 1

    return play


def rlcard() -> Callable[[int], int]:
    """Return a function that plays a random game of RLCard's doudizhu, and returns 1.

    RLCard has no auction: it evaluates the hands.
    """
    import rlcard as library  # need not be installed

    env = library.make("doudizhu", config={"seed": 1})
    random_ = random.Random(1)

    def play(i: int) -> int:
        state, _ = env.reset()
        while not env.is_over():
            actions = list(state["legal_actions"])
            state, _ = env.step(actions[int(random_.random() * len(actions))])
        return 1

    return play


def measured(*arguments: str, wheel: Installed | None = None) -> float:
    """Run a module in a separate process, here or from a wheel. Return the rate that it prints."""
    done = subprocess.run(
        [wheel.python if wheel else sys.executable, "-m", *arguments],
        cwd=wheel.folder if wheel else ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    answer: float = json.loads(done.stdout.splitlines()[-1])["rate"]
    return answer


def best(rounds: int, *programs: Callable[[], float]) -> list[float]:
    """Run the programs in `rounds` rounds, and return the best rate of each.

    The programs take turns, so that other load on the machine matters as little as possible.
    """
    rates = [[program() for program in programs] for _ in range(rounds)]
    return [max(column) for column in zip(*rates, strict=True)]


def sections() -> list[Section]:
    """Pure and compiled rules compared with OpenSpiel and RLCard; then every game."""
    module = "benchmarks.rules.random_games"
    pure, fast = {}, {}
    with installed_wheel() as wheel:
        for table in TABLES:
            ours = partial(measured, module, "stich", *map(str, table))
            pure[table], fast[table] = best(ROUNDS, ours, partial(ours, wheel=wheel))
        ours = partial(measured, module, "stich", "doudizhu", "3")
        peers = (partial(measured, module, name) for name in ("openspiel", "rlcard"))
        rates = best(RACES, ours, partial(ours, wheel=wheel), *peers)
    races = (("OpenSpiel 2.0.2 (C++)", rates[2], (0.3, 1.75)), ("RLCard 1.2.0", rates[3], (15, 90)))
    against = [
        Figure.more(f"{name} rules", rates[i], peer, speed, "games/s", aims[i])
        for peer, speed, aims in races
        for i, name in enumerate(("pure Python", "compiled"))
    ]
    every = [
        Figure.more(f"{name}, {players} players, compiled", ours, "the same, pure", peer, "games/s")
        for (name, players), ours, peer in zip(TABLES, fast.values(), pure.values(), strict=True)
    ]
    return [
        Section(
            "Random games of three-player Dou Dizhu",
            "Each game deals, bids and plays by choosing uniformly from the list of legal moves,"
            " and checks every move again as it is made. One process each, in turns; the best of"
            f" {RACES} rounds of 2 s of processor time.",
            against,
            "The pure rules are slower than a C++ engine because each move creates a dozen Python"
            " objects, and that stays so: about 0.3 of its speed. The compiled rules are the same"
            " sources, installed from a wheel (`make wheel`) in a fresh environment.",
        ),
        Section(
            "Random games of every game",
            "One deal per game, through `start`, `moves` and `advance`. The compiled rules are the"
            " same sources, installed from a wheel (`make wheel`).",
            every,
        ),
    ]


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "stich":
        work = stich(rest[0], int(rest[1]))
    else:
        work = {"openspiel": openspiel, "rlcard": rlcard}[what]()
    print(json.dumps({"rate": rate(work)}))
