"""Measure par and the landmarks of `stich bench`, and write them: `make bench-par`."""

import json
import os
import tempfile
from pathlib import Path

import msgspec

from bots.kits import find
from stich.houses import HOUSES
from tournament.bench.play import (
    LANDMARKS_FILE,
    PAR_FILE,
    Bench,
    Budget,
    Landmark,
    Played,
    result_of,
)
from tournament.bench.suite import BOT, PAR_BOT, PUBLIC_SEED, TABLES, USUAL, BenchTable
from tournament.bot.launch import LaunchSettings
from tournament.config.cup import Bot, Limits

SECONDS = {"random": 20.0, "greedy": 20.0, "kit": 30.0, "search": 120.0}
"""How long each landmark is measured at a table."""
BENCH = Bench(PUBLIC_SEED, HOUSES, os.cpu_count() or 1)


def par(table: BenchTable) -> list[int]:
    """Play every block with the house bot in the bot's place. Return its points by block."""
    return BENCH.play_house(table, PAR_BOT, Budget()).points


def play_kit(table: BenchTable, budget: Budget) -> Played:
    """Play a table with the Python kit, which plays like the kits in other languages."""
    with tempfile.TemporaryDirectory() as folder:
        kit = find("python")
        kit.copy(Path(folder))
        bot, launch = Bot(BOT, command=kit.command(folder)), LaunchSettings(Limits(), 60_000)
        return BENCH.play(table, bot, launch, budget)


def landmark(table: BenchTable, name: str, known: dict[str, list[int]]) -> Landmark | None:
    """Measure a bot at a table. Return None if too few blocks differ for an interval."""
    budget = Budget(SECONDS[name])
    played = play_kit(table, budget) if name == "kit" else BENCH.play_house(table, name, budget)
    blocks = len(played.points)
    constant = [table.constant_par or 0] * blocks
    table_par = known.get(f"{table.game} {table.players}", constant)[:blocks]
    result = result_of(table, played, table_par)
    if result.high is None:
        return None
    arm = round(result.high - result.over_par, 2)
    return Landmark(*table.key, name, blocks, round(result.over_par, 2), arm)


if __name__ == "__main__":
    unknown = (table for table in TABLES if table.constant_par is None)
    known = {f"{table.game} {table.players}": par(table) for table in unknown}
    PAR_FILE.write_text(json.dumps(known) + "\n")
    usual = (table for table in TABLES if table.rules == USUAL)
    landmarks = [landmark(table, name, known) for table in usual for name in SECONDS]
    text = msgspec.json.encode([mark for mark in landmarks if mark is not None])
    LANDMARKS_FILE.write_bytes(text.replace(b"},{", b"},\n{") + b"\n")
