"""The strength of the reference bots: mirrored duels in one process, and the page of results.

    python -m tools.strength --game dasan --players 4 --only search

A duel plays each deal in seatings that are fair to both bots: one seat of A among seats of B, in
every rotation, and one seat of B among seats of A. The difference of a deal is the mean score of
A's seats minus that of B's seats, over all these games. Deals are the blocks of the bootstrap.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import games
from bots import kit
from tools.processor import processor

Decide = Callable[[dict[str, Any]], str]

CLOCK = {"move_ms": 1000, "bank_ms": 10000}
OPTIONS = {game: {"deals": 1} for game in games.GAMES}
# Three deals: each seat has each target once, and the exchange takes place.
OPTIONS["ninefivetwo"] = {"deals": 3, "target": 1000}
RESAMPLES = 10_000

LADDER = ("search", "sensible", "greedy", "random")
"""The reference bots, strongest first."""

DETERMINIZATIONS = {"doudizhu": 60, "dasan": 60, "zhengfen": 120, "ninefivetwo": 60}
"""The number of determinizations of the search bot for each move.

With a number instead of the clock, games can be repeated on any machine. Zheng Fen needs more
because its scores vary more.
"""

DEALS: dict[tuple[str, int], tuple[int, int, int]] = {
    ("doudizhu", 3): (200, 12, 120),
    ("doudizhu", 4): (100, 6, 40),
    ("dasan", 3): (200, 16, 150),
    ("dasan", 4): (200, 16, 100),
    ("zhengfen", 3): (150, 12, 80),
    ("zhengfen", 4): (150, 10, 40),
    ("zhengfen", 5): (150, 8, 24),
    ("zhengfen", 6): (150, 8, 20),
    ("ninefivetwo", 3): (150, 6, 12),
}
"""The numbers of deals of duels by table: between fast bots, between the search bot and the random
or greedy bot, and between the search bot and the sensible bot."""

HERE = Path(__file__).parent
RECORDS = HERE / "strength.json"
PAGE = HERE.parent / "docs" / "reference-bots.md"

TABLES = "<!-- tables -->\n"
"""The line of the page after which everything is generated from the records."""


def bot(name: str) -> Decide:
    """Return the bot with this name; `search:50` makes 50 determinizations for each move."""
    base, _, iterations = name.partition(":")
    module = importlib.import_module(f"bots.{base}")
    move = partial(module.search, iterations=int(iterations)) if iterations else module.move
    return kit.adapt(move)


def request(state: games.State, match: str, turn: int) -> dict[str, Any]:
    """Return the request that the seat to move is sent."""
    return {
        "protocol": kit.PROTOCOL,
        "match": match,
        "turn": turn,
        "view": state.view(state.turn).to_dict(),
        "moves": state.moves().texts(),
        "clock": CLOCK,
    }


def play(game: str, players: int, seed: str, seats: Sequence[Decide]) -> list[float]:
    """Play one game. Return the points per deal, by seat."""
    state = games.get(game).start(players, seed, OPTIONS[game])
    turn = 0
    while state.turn is not None:
        turn += 1
        state = state.advance(seats[state.turn](request(state, seed, turn)))
    return [score / len(state.results) for score in state.scores]


def seatings(players: int) -> list[tuple[int, ...]]:
    """Return all seatings (0: A, 1: B) of one bot among seats of the other."""
    return [
        tuple(int((seat == alone) == alone_is_b) for seat in range(players))
        for alone_is_b in (False, True)
        for alone in range(players)
    ]


def deal_difference(pair: tuple[str, str], game: str, players: int, seed: str) -> float:
    """Return the mean difference between A and B in points per deal, over all seatings."""
    bots = [bot(name) for name in pair]
    differences = []
    for seating in seatings(players):
        scores = np.array(play(game, players, seed, [bots[which] for which in seating]))
        is_b = np.array(seating, dtype=bool)
        differences.append(scores[~is_b].mean() - scores[is_b].mean())
    return float(np.mean(differences))


class Outcome(NamedTuple):
    """A duel's mean difference in points per deal, with its 95 % interval."""

    mean: float
    low: float
    high: float


def duel(
    pair: tuple[str, str],
    game: str,
    players: int,
    deals: int,
    run: Callable[[Callable[[str], float], Iterable[str]], Iterator[float]] = map,
) -> Outcome:
    """Play a duel. Return its outcome, whose interval is a percentile bootstrap over the deals.

    `run` maps a function over seeds, like `map`.
    """
    seeds = [f"strength-{game}-{players}-{number}" for number in range(deals)]
    values = np.array(list(run(partial(deal_difference, pair, game, players), seeds)))
    random = np.random.default_rng(1)
    means = values[random.integers(0, deals, size=(RESAMPLES, deals))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Outcome(float(values.mean()), float(low), float(high))


def measure(
    game: str, players: int, pairs: Iterable[tuple[str, str]]
) -> Iterator[dict[str, object]]:
    """Play the duels of one table. Yield the record of each duel as it ends."""
    search = f"search:{DETERMINIZATIONS[game]}"
    with ProcessPoolExecutor() as pool:
        for better, worse in pairs:
            kind = 0 if "search" not in (better, worse) else 1 + ("sensible" in (better, worse))
            deals = DEALS[game, players][kind]
            fielded = (search if better == "search" else better, worse)
            began = time.perf_counter()
            outcome = duel(fielded, game, players, deals, partial(pool.map, chunksize=1))
            yield {
                "game": game,
                "players": players,
                "better": better,
                "worse": worse,
                **{name: round(value, 3) for name, value in outcome._asdict().items()},
                "deals": deals,
                "games": deals * len(seatings(players)),
                "seconds": round(time.perf_counter() - began, 1),
                "date": date.today().isoformat(),
                "machine": f"{processor()}, Python {platform.python_version()}",
            }


def page(records: Sequence[dict[str, Any]]) -> str:
    """Return the page on the reference bots, with a cross table for each table size of a game."""
    parts = [PAGE.read_text("utf-8").partition(TABLES)[0] + TABLES]
    for game, players in DEALS:
        cells = {
            (record["better"], record["worse"]): f"{record['mean']:+.2f}"
            f" [{record['low']:+.2f}, {record['high']:+.2f}], n = {record['deals']}"
            for record in records
            if (record["game"], record["players"]) == (game, players)
        }
        lines = [f"### {games.get(game).title}, {players} players", ""]
        lines.append("| | " + " | ".join(LADDER[1:]) + " |")
        lines.append("| --- |" + " --- |" * (len(LADDER) - 1))
        for row, better in enumerate(LADDER[:-1]):
            beaten = [""] * row + [cells[better, worse] for worse in LADDER[row + 1 :]]
            lines.append(f"| {better} | " + " | ".join(beaten) + " |")
        parts.append("\n".join([*lines, ""]))
    dates = sorted({str(record["date"]) for record in records})
    machines = sorted({str(record["machine"]) for record in records})
    when = " to ".join(dict.fromkeys((dates[0], dates[-1])))
    return "\n".join([*parts, f"Measured {when} on {'; '.join(machines)}.\n"])


def load() -> list[dict[str, Any]]:
    """Return the records stored so far."""
    return list(json.loads(RECORDS.read_text()))


def store_record(new: dict[str, object]) -> None:
    """Store a record in place of an older record of the same duel, and write the page."""
    key = ("game", "players", "better", "worse")
    others = [old for old in load() if any(old[name] != new[name] for name in key)]
    records = sorted([*others, new], key=lambda record: [str(record[name]) for name in key])
    RECORDS.write_text(
        "[\n" + ",\n".join(json.dumps(record) for record in records) + "\n]\n", encoding="utf-8"
    )
    PAGE.write_text(page(records), encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> None:
    """Measure the pairs and tables that the command line asks for, or all of them.

    Prints each record, and writes the records and the page.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", help="pairs with this bot only")
    parser.add_argument("--game", choices=list(games.GAMES))
    parser.add_argument("--players", type=int)
    arguments = parser.parse_args(argv)
    pairs = [pair for pair in combinations(LADDER, 2) if arguments.only in (None, *pair)]
    for game, players in DEALS:
        if arguments.game in (None, game) and arguments.players in (None, players):
            for record in measure(game, players, pairs):
                store_record(record)
                print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()
