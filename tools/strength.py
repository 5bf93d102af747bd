"""How strong the reference bots are: mirrored duels in one process, and the page of results.

    python -m tools.strength --game dasan --players 4 --only search

A duel plays each deal in seatings that are fair to both bots: one seat of A among seats of B, in
every rotation, and one seat of B among seats of A. The difference of a deal is the mean score of
A's seats less that of B's, over all these games; deals are the blocks of the bootstrap.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import games
from bots import kit
from tools.processor import processor

Decide = Callable[[dict[str, Any]], str]

CLOCK = {"move_ms": 1000, "bank_ms": 10000}
OPTIONS: dict[str, dict[str, int]] = {
    "doudizhu": {"deals": 1},
    "dasan": {"deals": 1},
    "zhengfen": {"deals": 1},
    # Three deals: each seat has each target once, and the exchange takes place.
    "ninefivetwo": {"deals": 3, "target": 1000},
}
RESAMPLES = 10_000

LADDER = ("search", "sensible", "greedy", "random")
"""The reference bots, strongest first."""

DETERMINIZATIONS = {"doudizhu": 60, "dasan": 60, "zhengfen": 120, "ninefivetwo": 60}
"""How many determinizations the search bot makes for each move. A number instead of the clock makes
its games repeatable on any machine. Zheng Fen needs more because its scores vary more."""

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
"""The number of deals of a duel, by table: between fast bots; between the search bot and the weaker
ones, where few are enough; between the search bot and the sensible one."""

HERE = Path(__file__).parent
RECORDS = HERE / "strength.json"
PAGE = HERE.parent / "docs" / "reference-bots.md"

TABLES = "<!-- tables -->\n"
"""What comes after this line of the page is made of the records."""


def bot(name: str) -> Decide:
    """The bot of this name; `search:50` is the search bot with 50 determinizations a move."""
    base, _, iterations = name.partition(":")
    module = importlib.import_module(f"bots.{base}")
    if iterations:
        return kit.adapt(partial(module.search, iterations=int(iterations)))
    return kit.adapt(module.move)


def entrant(name: str, game: str) -> str:
    """The name of a ladder bot in a duel; `search` has its number of determinizations."""
    return f"{name}:{DETERMINIZATIONS[game]}" if name == "search" else name


def request(state: games.State, match: str, turn: int) -> dict[str, Any]:
    """What the seat to move is asked."""
    return {
        "protocol": kit.PROTOCOL,
        "match": match,
        "turn": turn,
        "view": state.view(state.turn).to_dict(),
        "moves": state.moves().texts(),
        "clock": CLOCK,
    }


def play(game: str, players: int, seed: str, seats: Sequence[Decide]) -> list[float]:
    """Play one game; return the scores per deal, by seat."""
    state = games.get(game).start(players, seed, OPTIONS[game])
    turn = 0
    while state.turn is not None:
        turn += 1
        state = state.advance(seats[state.turn](request(state, seed, turn)))
    return [score / len(state.results) for score in state.scores]


def seatings(players: int) -> list[tuple[int, ...]]:
    """Who sits where (0: A, 1: B): one seat of A among seats of B and the reverse, rotated."""
    places = []
    for one, rest in ((0, 1), (1, 0)):
        places += [
            tuple(one if seat == alone else rest for seat in range(players))
            for alone in range(players)
        ]
    return list(dict.fromkeys(places))


def deal_difference(pair: tuple[str, str], game: str, players: int, seed: str) -> float:
    """How much better A is than B on one deal, over all seatings."""
    bots = [bot(name) for name in pair]
    differences = []
    for seating in seatings(players):
        scores = play(game, players, seed, [bots[which] for which in seating])
        sides = [
            [score for score, which in zip(scores, seating, strict=True) if which == side]
            for side in (0, 1)
        ]
        differences.append(float(np.mean(sides[0]) - np.mean(sides[1])))
    return float(np.mean(differences))


@dataclass(frozen=True)
class DuelOutcome:
    """The result of a duel: the mean difference per deal, its 95 % interval, and the deals."""

    mean: float
    low: float
    high: float
    deals: int
    seconds: float

    @classmethod
    def of(cls, differences: Sequence[float], seconds: float) -> DuelOutcome:
        """Compute it from the deals' differences: percentile bootstrap, deals as blocks."""
        values = np.asarray(differences)
        random = np.random.default_rng(1)
        picks = random.integers(0, len(values), size=(RESAMPLES, len(values)))
        means = values[picks].mean(axis=1)
        low, high = np.quantile(means, (0.025, 0.975))
        return cls(float(values.mean()), float(low), float(high), len(values), seconds)


def duel(
    pair: tuple[str, str],
    game: str,
    players: int,
    deals: int,
    *,
    run: Callable[[Callable[[str], float], Iterable[str]], Iterator[float]] = map,
    series: str = "strength",
) -> DuelOutcome:
    """Play a duel; `run` maps a function over seeds, in this process or in several."""
    began = time.perf_counter()
    seeds = [f"{series}-{game}-{players}-{number}" for number in range(deals)]
    differences = list(run(partial(deal_difference, pair, game, players), seeds))
    return DuelOutcome.of(differences, time.perf_counter() - began)


def measure(
    game: str, players: int, pairs: Iterable[tuple[str, str]], jobs: int
) -> Iterator[dict[str, object]]:
    """Play the duels of one table; yield a record of each as it ends."""
    with ProcessPoolExecutor(jobs) as pool:
        for pair in pairs:
            kind = 0 if "search" not in pair else 1 + ("sensible" in pair)
            deals = DEALS[game, players][kind]
            fielded = (entrant(pair[0], game), entrant(pair[1], game))
            outcome = duel(fielded, game, players, deals, run=partial(pool.map, chunksize=1))
            yield {
                "game": game,
                "players": players,
                "better": pair[0],
                "worse": pair[1],
                "mean": round(outcome.mean, 3),
                "low": round(outcome.low, 3),
                "high": round(outcome.high, 3),
                "deals": outcome.deals,
                "games": outcome.deals * len(seatings(players)),
                "seconds": round(outcome.seconds, 1),
                "date": date.today().isoformat(),
                "machine": f"{processor()}, Python {platform.python_version()}",
            }


def page(records: Sequence[dict[str, Any]]) -> str:
    """The page on the reference bots, with a cross table for each game and number of players."""
    parts = [PAGE.read_text("utf-8").partition(TABLES)[0] + TABLES]
    for game, players in DEALS:
        mine = {
            (record["better"], record["worse"]): record
            for record in records
            if (record["game"], record["players"]) == (game, players)
        }
        if mine:
            parts.append(_section(game, players, mine))
    dates = sorted({str(record["date"]) for record in records})
    machines = sorted({str(record["machine"]) for record in records})
    parts.append(
        f"Measured {' to '.join(dict.fromkeys((dates[0], dates[-1])))} on {'; '.join(machines)}.\n"
        if records
        else "Nothing has been measured yet.\n"
    )
    return "\n".join(parts)


def _section(game: str, players: int, mine: dict[tuple[str, str], dict[str, Any]]) -> str:
    lines = [f"### {games.get(game).title}, {players} players", ""]
    lines.append("| | " + " | ".join(LADDER[1:]) + " |")
    lines.append("| --- |" + " --- |" * (len(LADDER) - 1))
    for row, better in enumerate(LADDER[:-1]):
        cells = []
        for column, worse in enumerate(LADDER[1:], start=1):
            record = mine.get((better, worse))
            if column <= row:
                cells.append("")
            elif record is None:
                cells.append("not measured")
            else:
                cells.append(
                    f"{record['mean']:+.2f} [{record['low']:+.2f}, {record['high']:+.2f}],"
                    f" n = {record['deals']}"
                )
        lines.append(f"| {better} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def load() -> list[dict[str, Any]]:
    """The records so far."""
    return list(json.loads(RECORDS.read_text())) if RECORDS.exists() else []


def store_record(new: dict[str, object]) -> None:
    """Store a record, replacing an older one of the same duel, and write the page."""
    key = ("game", "players", "better", "worse")
    others = [old for old in load() if any(old[name] != new[name] for name in key)]
    records = sorted([*others, new], key=lambda record: [str(record[name]) for name in key])
    RECORDS.write_text(
        "[\n" + ",\n".join(json.dumps(record) for record in records) + "\n]\n", encoding="utf-8"
    )
    PAGE.write_text(page(records), encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> None:
    """Measure all pairs, or those that are asked for, into the records and the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", help="pairs with this bot only")
    parser.add_argument("--game", choices=list(games.GAMES))
    parser.add_argument("--players", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args(argv)
    pairs = [
        (better, worse)
        for row, better in enumerate(LADDER)
        for worse in LADDER[row + 1 :]
        if arguments.only in (None, better, worse)
    ]
    for game, players in DEALS:
        if arguments.game in (None, game) and arguments.players in (None, players):
            for record in measure(game, players, pairs, arguments.jobs):
                store_record(record)
                print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()
