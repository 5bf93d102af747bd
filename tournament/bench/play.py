"""Plays the tables of the suite on all cores, without a store.

Par is what `sensible` makes of each block. It follows from the rules where the points of a deal
always add up to the same; elsewhere `make bench-par` keeps that of the public deals in a file.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from math import inf
from pathlib import Path
from statistics import fmean, median
from time import monotonic

import msgspec

from tournament.bench.compare import FEWEST_BLOCKS
from tournament.bench.record import Faults, Measured, Record, Result, TableProblem, seed_shown
from tournament.bench.suite import BLOCKS, BOT, PAR_BOT, PUBLIC_SEED, SUITE, BenchTable
from tournament.bot.launch import LaunchSettings
from tournament.bot.started_bot import start
from tournament.bot.url_bot import MoveFunction
from tournament.config.cup import Bot, Limits
from tournament.errors import StichError
from tournament.ranking.arrays import UNKNOWN
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


@dataclass(frozen=True, slots=True)
class Budget:
    """How much of a table is played: so many blocks at most, and none is begun after `seconds`
    (None for no limit). At least one block is played."""

    seconds: float | None = None
    blocks: int = BLOCKS


@dataclass
class Played:
    """What a bot made of the first blocks of a table.

    `points` has its points in each block after the strike-out rule. `faults` are by kind,
    `fallbacks` the moves that were not its own, `asked` all moves it was asked for, `struck_out`
    the matches in which it was struck out, `times` the milliseconds of its answers.
    """

    points: list[int] = field(default_factory=list)
    faults: Counter[FaultKind] = field(default_factory=Counter)
    fallbacks: int = 0
    asked: int = 0
    struck_out: int = 0
    times: list[float] = field(default_factory=list)

    def add(self, record: MatchRecord) -> None:
        """Count a match."""
        seat = record.seating.index(BOT)
        missing = record.block - len(self.points)
        self.points += [0] * missing
        self.points[record.block - 1] += record.adjusted[seat]
        self.faults.update(fault.kind for fault in record.faults if fault.seat == seat)
        self.fallbacks += sum(fallback.seat == seat for fallback in record.fallbacks)
        self.asked += len(record.times[seat])
        self.struck_out += seat in record.struck
        self.times += record.answered(seat)


OnMatch = Callable[[MatchRecord], None]


def play_house(
    table: BenchTable,
    house: str,
    seed: str,
    houses: Houses,
    budget: Budget,
    concurrency: int,
    on_match: OnMatch = lambda _: None,
) -> Played:
    """Play a table with a house bot in the bot's place: par, and landmarks."""
    launch = LaunchSettings(Limits(), start_ms=1)  # nothing is started
    bot = Bot(BOT, command=house, house=True)
    return play_bot(table, bot, seed, houses, launch, budget, concurrency, on_match)


def play_bot(
    table: BenchTable,
    bot: Bot,
    seed: str,
    houses: Houses,
    launch: LaunchSettings,
    budget: Budget,
    concurrency: int,
    on_match: OnMatch,
) -> Played:
    """Play the first blocks of a table with the bot, whose name must be BOT.

    Raises:
        UnplayedError: if they cannot be played.
    """
    cup = table.cup(bot, concurrency)
    played = Played()
    blocks = min(budget.blocks, BLOCKS)
    jobs = (
        Job(table.block(cup, seed, number), tuple(range(table.players)))
        for number in range(1, blocks + 1)
    )
    begun = ended = 0
    tables = tables_at_once(cup, blocks)
    in_process = {one.name: houses[one.command or ""] for one in cup.bots if one.house}
    executor = LocalExecutor(cup, launch, tables, in_process=in_process)
    with closing(executor):
        try:
            if problems := executor.inspect(()).problems:
                raise UnplayedError(" ".join(problems))
            until = inf if budget.seconds is None else monotonic() + budget.seconds
            while begun == 0 or ended < begun or (begun < blocks and monotonic() < until):
                while executor.has_free_table and (not begun or monotonic() < until):
                    if (job := next(jobs, None)) is None:
                        break
                    executor.submit(job)
                    begun += 1
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


def result_of(table: BenchTable, played: Played, par: Sequence[int]) -> Result:
    """The result of a table, of which the blocks that were played have this par."""
    pairs = zip(played.points, par, strict=True)
    over = tuple((mine - its) / table.deals for mine, its in pairs)
    few = 0 < sum(map(bool, over)) < FEWEST_BLOCKS or len(over) < FEWEST_BLOCKS
    interval = UNKNOWN if few else mean_interval(over)
    return Result(
        *table.key,
        blocks=len(over),
        points=sum(played.points) / (table.deals * len(over)),
        over_par=fmean(over),
        low=interval.low,
        high=interval.high,
        faults=Faults(**{kind.value: count for kind, count in played.faults.items()}),
        struck_out=played.struck_out,
        fallback=round(played.fallbacks / played.asked, 4) if played.asked else None,
        move_ms=round(median(played.times), 2) if played.times else None,
        by_block=over,
    )


def par_of(
    table: BenchTable, blocks: int, seed: str, houses: Houses, concurrency: int
) -> Sequence[int]:
    """Par of the first blocks of a table; played where it is not known.

    Raises:
        UnplayedError: if a block is lost.
    """
    if table.constant_par is not None:
        return [table.constant_par] * blocks
    if seed == PUBLIC_SEED:
        return read_par()[f"{table.game} {table.players}"][:blocks]
    return play_house(table, PAR_BOT, seed, houses, Budget(blocks=blocks), concurrency).points


def run_bench(
    bot: Bot,
    about: Mapping[str, object],
    tables: Sequence[BenchTable],
    seed: str,
    houses: Houses,
    launch: LaunchSettings,
    budget: Budget,
    concurrency: int,
    on_match: OnMatch,
) -> Record:
    """Play these tables and return the result; what cannot be played is among its problems. The
    name of the bot must be BOT. The budget is that of each table."""
    results: list[Result] = []
    problems: list[TableProblem] = []
    unplayed: set[str] = set()
    for table in tables:
        if table.game in unplayed:
            continue  # each table of a game could take as long as the first
        try:
            played = play_bot(table, bot, seed, houses, launch, budget, concurrency, on_match)
            par = par_of(table, len(played.points), seed, houses, concurrency)
        except UnplayedError as error:
            unplayed.add(table.game)
            problems.append(TableProblem(*table.key, why=str(error).removeprefix(f"{BOT}: ")))
            continue
        results.append(result_of(table, played, par))
        if played.struck_out:
            times = plural(played.struck_out, "match", "matches")
            problems.append(TableProblem(*table.key, why=f"It was struck out in {times}."))
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


PAR_FILE = Path(__file__).with_name("par.json")
LANDMARKS_FILE = Path(__file__).with_name("landmarks.json")


def read_par() -> Mapping[str, tuple[int, ...]]:
    """Par of every block of the public deals, summed over its deals, by game and players as in
    "ninefivetwo 3": only where it is not the same for every block."""
    return msgspec.json.decode(PAR_FILE.read_bytes(), type=dict[str, tuple[int, ...]])


class Landmark(msgspec.Struct, frozen=True):
    """What a measured bot makes over par of the first blocks of a table, in points a deal; `arm` is
    half the width of its 95 % interval."""

    game: str
    players: int
    rules: str
    bot: str
    blocks: int
    over_par: float
    arm: float

    @property
    def key(self) -> tuple[str, int, str]:
        """Which table of the suite it is of."""
        return self.game, self.players, self.rules


def read_landmarks() -> tuple[Landmark, ...]:
    """The bots that were measured, by table."""
    return msgspec.json.decode(LANDMARKS_FILE.read_bytes(), type=tuple[Landmark, ...])
