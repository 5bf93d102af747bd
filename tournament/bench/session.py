"""One benchmark of one bot: the tables of the games that it plays, and the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from tournament.bench.play import Houses, OnMatch, UnplayedError, play_bot, play_house, read_par
from tournament.bench.record import Measured, Problem, Record, Result, result_of, seed_shown
from tournament.bench.suite import BOT, PAR_BOT, PUBLIC_SEED, SUITE, BenchTable
from tournament.bot.launch import LaunchSettings
from tournament.bot.started_bot import start
from tournament.config import Bot
from tournament.run.preflight import about_by_url
from tournament.text import plural, printable


def ask_about(bot: Bot, launch: LaunchSettings) -> Mapping[str, Any]:
    """What the bot says about itself; StartError with a sentence if it does not answer."""
    if bot.url is not None:
        return about_by_url(bot, bot.url)
    with closing(start(bot, launch)) as started:
        return started.about


def run_bench(
    bot: Bot,
    about: Mapping[str, Any],
    tables: Sequence[BenchTable],
    seed: str,
    houses: Houses,
    launch: LaunchSettings,
    concurrency: int,
    on_match: OnMatch,
) -> Record:
    """Play these tables and return the result; what cannot be played is among its problems. The
    name of the bot must be BOT."""
    public = read_par() if seed == PUBLIC_SEED else {}
    results: list[Result] = []
    problems: list[Problem] = []
    unplayed: set[str] = set()
    for table in tables:
        if table.game in unplayed:
            continue  # each table of a game could take as long as the first
        try:
            played = play_bot(table, bot, seed, houses, launch, concurrency, on_match)
            if public:
                par = public[table.key].points[PAR_BOT]
            else:
                par = tuple(play_house(table, PAR_BOT, seed, houses, concurrency, on_match).points)
        except UnplayedError as error:
            unplayed.add(table.game)
            problems.append(Problem(*table.key, why=str(error).removeprefix(f"{BOT}: ")))
            continue
        results.append(result_of(table, played, par))
        if played.struck_out:
            times = plural(played.struck_out, "match", "matches")
            problems.append(Problem(*table.key, why=f"It was struck out in {times}."))
    said = [about.get(key) for key in ("name", "version")]
    name, its_version = (printable(one[:64]) if isinstance(one, str) else None for one in said)
    command = bot.command or bot.url or ""
    return Record(
        suite=SUITE,
        seed=seed_shown(seed),
        bot=Measured(name or command, its_version, command),
        results=tuple(results),
        problems=tuple(problems),
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        stich=version("stich"),
    )


def matches(tables: Sequence[BenchTable], seed: str) -> int:
    """How many matches a benchmark has; on other than the public deals par is played too."""
    once = sum(table.blocks * table.players for table in tables)
    return once if seed == PUBLIC_SEED else 2 * once
