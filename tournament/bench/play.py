"""Plays the tables of the suite on all cores, without a store.

Par is what `sensible` makes of each block of the public deals; `make bench-par` keeps it in a file.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import fmean, median

import msgspec

from tournament.bench.record import Faults, Measured, Problem, Record, Result, seed_shown
from tournament.bench.suite import BOT, PAR_BOT, PUBLIC_SEED, SUITE, BenchTable
from tournament.bot.launch import LaunchSettings
from tournament.bot.started_bot import start
from tournament.bot.url_bot import MoveFunction
from tournament.config.cup import Bot, Limits
from tournament.errors import StichError
from tournament.ranking.student import mean_interval
from tournament.records import FaultKind, MatchRecord
from tournament.run.executor import Finished, Job, Lost, RunError
from tournament.run.local_executor import LocalExecutor, tables_at_once
from tournament.run.preflight import about_by_url
from tournament.text import plural, printable

Houses = Mapping[str, MoveFunction]
"""The house bots by name, as functions. They are called in the processes of the workers: then they
are never late, and a process each for every seat of every seating need not be started."""

MAX_STRUCK_OUT = 3
"""So many matches in which the bot is struck out end a table: each may take its whole clock."""

_WAIT_S = 0.5


class UnplayedError(StichError):
    """A table could not be played; the text is one sentence or more."""


@dataclass
class Played:
    """What a bot made of a table: its points in each block after the strike-out rule, its faults by
    kind, the matches in which it was struck out, the milliseconds of its answers."""

    points: list[int]
    faults: Counter[FaultKind] = field(default_factory=Counter)
    struck_out: int = 0
    times: list[float] = field(default_factory=list)

    def add(self, record: MatchRecord) -> None:
        """Count a match."""
        seat = record.seating.index(BOT)
        self.points[record.block - 1] += record.adjusted[seat]
        self.faults.update(fault.kind for fault in record.faults if fault.seat == seat)
        self.struck_out += seat in record.struck
        self.times += record.answered(seat)


OnMatch = Callable[[MatchRecord], None]


def play_house(
    table: BenchTable,
    house: str,
    seed: str,
    houses: Houses,
    concurrency: int,
    on_match: OnMatch = lambda _: None,
) -> Played:
    """Play a table with a house bot in the bot's place: par, and the landmarks."""
    launch = LaunchSettings(Limits(), start_ms=1)  # nothing is started
    bot = Bot(BOT, command=house, house=True)
    return play_bot(table, bot, seed, houses, launch, concurrency, on_match)


def play_bot(
    table: BenchTable,
    bot: Bot,
    seed: str,
    houses: Houses,
    launch: LaunchSettings,
    concurrency: int,
    on_match: OnMatch,
) -> Played:
    """Play a table with the bot. Its name must be BOT. UnplayedError if it cannot be played."""
    cup = table.cup(bot, concurrency)
    played = Played([0] * table.blocks)
    jobs = (
        Job(table.block(cup, seed, number), tuple(range(table.players)))
        for number in range(1, table.blocks + 1)
    )
    ended = 0
    tables = tables_at_once(cup, table.blocks)
    in_process = {one.name: houses[one.command or ""] for one in cup.bots if one.house}
    executor = LocalExecutor(cup, launch, tables, in_process=in_process)
    with closing(executor):
        try:
            if problems := executor.inspect(()).problems:
                raise UnplayedError(" ".join(problems))
            while ended < table.blocks:
                while executor.has_free_table and (job := next(jobs, None)):
                    executor.submit(job)
                for event in executor.receive(_WAIT_S):
                    match event:
                        case Finished(record, last):
                            played.add(record)
                            on_match(record)
                            ended += last
                        case Lost(block, why):
                            raise UnplayedError(f"Block {block} was lost: {why}.")
                if played.struck_out >= MAX_STRUCK_OUT:
                    raise UnplayedError(
                        f"It was struck out in {played.struck_out} matches, so the rest is not"
                        " played; `stich check` finds out more."
                    )
        except RunError as error:
            raise UnplayedError(str(error)) from None
    return played


def ask_about(bot: Bot, launch: LaunchSettings) -> Mapping[str, object]:
    """What the bot says about itself; StartError with a sentence if it does not answer."""
    if bot.url is not None:
        return about_by_url(bot, bot.url)
    with closing(start(bot, launch)) as started:
        return started.about


def result_of(table: BenchTable, played: Played, par: tuple[int, ...]) -> Result:
    """The result of a table whose first blocks have this par."""
    pairs = zip(played.points, par[: table.blocks], strict=True)
    over = tuple((mine - its) / table.deals for mine, its in pairs)
    interval = mean_interval(over)
    return Result(
        *table.key,
        blocks=table.blocks,
        points=sum(played.points) / (table.deals * table.blocks),
        over_par=fmean(over),
        low=interval.low,
        high=interval.high,
        faults=Faults(**{kind.value: count for kind, count in played.faults.items()}),
        struck_out=played.struck_out,
        move_ms=round(median(played.times), 2) if played.times else None,
        by_block=over,
    )


def run_bench(
    bot: Bot,
    about: Mapping[str, object],
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


PAR_FILE = Path(__file__).with_name("par.json")
LANDMARKS = ("random", "greedy", "search")
"""The house bots that are measured against `sensible` beside it."""


class Par(msgspec.Struct, frozen=True):
    """A table of the suite, and by house bot its points in each block, summed over all deals."""

    game: str
    players: int
    opponents: str
    points: dict[str, tuple[int, ...]]

    def landmarks(self) -> dict[str, float]:
        """The mean points over par of a block for each house bot."""
        par = self.points[PAR_BOT]
        return {
            name: fmean(points) - fmean(par)
            for name, points in self.points.items()
            if name != PAR_BOT
        }


def read_par() -> Mapping[tuple[str, int, str], Par]:
    """Par of every table of the suite by its key."""
    found = msgspec.json.decode(PAR_FILE.read_bytes(), type=tuple[Par, ...])
    return {(par.game, par.players, par.opponents): par for par in found}
