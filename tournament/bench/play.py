"""Plays the tables of the suite, on several cores and without a store.

Par is the result of `sensible` in each block. If all deals have the same sum of points, par follows
from the rules. For other tables, `make bench-par` writes par for the public deals to a file.
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

from tournament.bench.record import (
    Faults,
    Measured,
    Record,
    Result,
    TableProblem,
    block_interval,
    seed_shown,
)
from tournament.bench.suite import BLOCKS, BOT, PAR_BOT, PUBLIC_SEED, SUITE, BenchTable, OfTable
from tournament.bot.about import about_by_url, identity
from tournament.bot.launch import LaunchSettings
from tournament.bot.started_bot import start
from tournament.bot.url_bot import MoveFunction
from tournament.config.cup import Bot, Limits
from tournament.records import FaultKind, MatchRecord
from tournament.run.workers.executor import Finished, Job, Lost, RunError
from tournament.run.workers.local_executor import LocalExecutor, tables_at_once
from tournament.text import plural

Houses = Mapping[str, MoveFunction]
"""The house bots by name, as functions, which worker processes call. They are never late."""

MAX_STRUCK_OUT = 3
"""The number of matches in which a bot is struck out before its table is given up."""

_WAIT_S = 0.5


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits on playing a table. At most `blocks` blocks (1 to `BLOCKS`) are played. After
    `seconds` seconds, no further block begins, but one block is always played."""

    seconds: float = inf
    blocks: int = BLOCKS


@dataclass
class Played:
    """The results of the bot in the first blocks of a table.

    `points` has the points in each block, summed over its deals, after the strike-out rule. `asked`
    counts the moves that the bot was asked for, and `fallbacks` counts its fallbacks. `struck_out`
    counts the matches in which the bot was struck out. `times` has the times of complete answers in
    milliseconds.
    """

    points: list[int] = field(default_factory=list)
    faults: Counter[FaultKind] = field(default_factory=Counter)
    fallbacks: int = 0
    asked: int = 0
    struck_out: int = 0
    times: list[float] = field(default_factory=list)

    def add(self, record: MatchRecord) -> None:
        """Add the result of a match at the table. `BOT` must have played in the match."""
        seat = record.seating.index(BOT)
        self.points += [0] * (record.block - len(self.points))
        self.points[record.block - 1] += record.adjusted[seat]
        self.faults.update(fault.kind for fault in record.faults if fault.seat == seat)
        self.fallbacks += sum(fallback.seat == seat for fallback in record.fallbacks)
        self.asked += len(record.times[seat])
        self.struck_out += seat in record.struck
        self.times += record.answered(seat)


@dataclass(frozen=True, slots=True)
class Bench:
    """Plays tables of the suite, at most `concurrency` matches at once. The deals follow from
    `seed`. `houses` must contain `PAR_BOT`."""

    seed: str
    houses: Houses
    concurrency: int

    def play(
        self,
        table: BenchTable,
        bot: Bot,
        launch: LaunchSettings,
        budget: Budget,
        on_match: Callable[[MatchRecord], None] = lambda _: None,
    ) -> Played:
        """Play the first blocks of a table within `budget`, and return the results of `bot`.

        The bot's name must be `BOT`. `on_match` is called after each match. When the time is up,
        blocks that have begun are finished.

        Raises:
            RunError: if the bot does not start, answer or support the table's game, if it is struck
                out in `MAX_STRUCK_OUT` matches, or if the workers fail or a block is lost.
        """
        cup, blocks = table.cup(bot, self.concurrency), budget.blocks
        played = Played()
        begun = ended = 0
        in_process = {
            player.name: self.houses[player.command or ""] for player in cup.bots if player.house
        }
        executor = LocalExecutor(cup, launch, tables_at_once(cup, blocks), in_process=in_process)
        with closing(executor):
            if problems := executor.inspect(()).problems:
                raise RunError(" ".join(problems))
            until = monotonic() + budget.seconds
            while begun == 0 or ended < begun or (begun < blocks and monotonic() < until):
                while executor.has_free_table and begun < blocks:
                    if begun and monotonic() >= until:
                        break
                    begun += 1
                    block = table.block(cup, self.seed, begun)
                    executor.submit(Job(block, tuple(range(table.players))))
                for event in executor.receive(_WAIT_S):
                    match event:
                        case Finished(record, last):
                            played.add(record)
                            on_match(record)
                            ended += last
                        case Lost(block_number, why):
                            raise RunError(f"Block {block_number} was lost: {why}.")
                if played.struck_out >= MAX_STRUCK_OUT:
                    raise RunError(
                        f"It was struck out in {played.struck_out} matches, so the rest is not"
                        " played; `stich check` finds out more."
                    )
        return played

    def play_house(self, table: BenchTable, house: str, budget: Budget) -> Played:
        """Play the first blocks of a table with the house bot named `house`, and return its
        results, as `play` does for another bot.

        Raises:
            RunError: as in `play`.
        """
        launch = LaunchSettings(Limits(), start_ms=1)  # nothing is started
        return self.play(table, Bot(BOT, command=house, house=True), launch, budget)

    def par(self, table: BenchTable, blocks: int) -> Sequence[int]:
        """Return par for each of a table's first `blocks` blocks, in points summed over the block's
        deals.

        If neither the rules nor the file of public deals gives par, `PAR_BOT` plays the blocks.

        Raises:
            RunError: as in `play`.
        """
        if table.constant_par is not None:
            return [table.constant_par] * blocks
        if self.seed == PUBLIC_SEED:
            return read_par()[f"{table.game} {table.players}"][:blocks]
        return self.play_house(table, PAR_BOT, Budget(blocks=blocks)).points

    def measure(
        self,
        bot: Bot,
        about: Mapping[str, object],
        tables: Sequence[BenchTable],
        launch: LaunchSettings,
        budget: Budget,
        on_match: Callable[[MatchRecord], None],
    ) -> Record:
        """Play `tables` as in `play`, each within `budget`, and return the record.

        `about` has the fields of the bot's answer to GET /. If `play` or `par` raises RunError at a
        table, the record has a problem for the table instead of a result, and the remaining tables
        of the same game are skipped. If the bot is struck out, but in fewer than `MAX_STRUCK_OUT`
        matches, the record has both a result and a problem for the table.
        """
        results: list[Result] = []
        problems: list[TableProblem] = []
        unplayed: set[str] = set()
        for table in tables:
            if table.game in unplayed:
                continue  # each further table of the game could take as long as the first
            try:
                played = self.play(table, bot, launch, budget, on_match)
                par = self.par(table, len(played.points))
            except RunError as error:
                unplayed.add(table.game)
                problems.append(TableProblem(*table.key, why=str(error).removeprefix(f"{BOT}: ")))
                continue
            results.append(result_of(table, played, par))
            if played.struck_out:
                times = plural(played.struck_out, "match", "matches")
                problems.append(TableProblem(*table.key, why=f"It was struck out in {times}."))
        stated, command = identity(about), bot.command or bot.url or ""
        return Record(
            suite=SUITE,
            seed=seed_shown(self.seed),
            bot=Measured(stated.name or command, stated.version or None, command),
            results=tuple(results),
            problems=tuple(problems),
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            stich=version("stich"),
        )


def ask_about(bot: Bot, launch: LaunchSettings) -> Mapping[str, object]:
    """Return the fields of a bot's answer to GET /. A bot with a command is started for this, and
    then stopped.

    The result is empty if a started bot's answer does not conform to the protocol.

    Raises:
        StartError: if the bot does not start or answer, or what answers at its URL is not a bot.
    """
    if bot.url is not None:
        return about_by_url(bot)
    with closing(start(bot, launch)) as started:
        return started.about


def result_of(table: BenchTable, played: Played, par: Sequence[int]) -> Result:
    """Return the bot's result at a table. `played` must have at least one block. `par` has par for
    each of the blocks in `played`, in points summed over the block's deals."""
    pairs = zip(played.points, par, strict=True)
    over = tuple((points - par_points) / table.deals for points, par_points in pairs)
    interval = block_interval(over)
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


PAR_FILE = Path(__file__).with_name("par.json")
LANDMARKS_FILE = Path(__file__).with_name("landmarks.json")


def read_par() -> Mapping[str, tuple[int, ...]]:
    """Return par for each block of the public deals, in points summed over the block's deals. A key
    such as "ninefivetwo 3" names a table. Tables with a constant par are left out."""
    return msgspec.json.decode(PAR_FILE.read_bytes(), type=dict[str, tuple[int, ...]])


class Landmark(OfTable, frozen=True):
    """A known bot's result at a table. `over_par` is the mean of its points per deal less par.
    `arm` is half the width of the 95 % interval."""

    bot: str
    blocks: int
    over_par: float
    arm: float


def read_landmarks() -> tuple[Landmark, ...]:
    """Return all landmarks, in the order of the tables of the suite."""
    return msgspec.json.decode(LANDMARKS_FILE.read_bytes(), type=tuple[Landmark, ...])
