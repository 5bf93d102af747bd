"""What a cup will take: an estimate from one block for each of its bots, which is not kept."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from tournament.config.cup import Cup
from tournament.formats import Plan, Round, Setup
from tournament.formats.plan import Progress
from tournament.formats.scores import Scores
from tournament.records import MatchRecord
from tournament.results.info_sums import info_sums
from tournament.run.assembly import local_launch
from tournament.run.local_executor import LocalExecutor, tables_at_once
from tournament.run.observer import RunObserver
from tournament.run.resume import resume
from tournament.run.roster import Roster
from tournament.run.session import Session
from tournament.store.store import Store

COSTS = ("input_tokens", "output_tokens", "cost")
"""The numbers in `info` that are estimated."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate of what a whole cup will take.

    It follows from `played` matches with `faults` faults. `forced` counts moves for which no bot is
    asked. `seconds` is the time with all tables at once. `bots` holds the `requests` of each bot,
    its thinking time in `seconds`, and the numbers of COSTS that it states.
    """

    matches: int
    forced: float
    seconds: float
    played: int
    faults: int
    bots: Mapping[str, Mapping[str, float]]


class _FirstBlocks(Plan):
    """A plan of one block at each of as few tables as let every bot play."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup, "rotations")
        last = len(setup.bots) - setup.players
        starts = [*range(0, last, setup.players), last]
        self._tables = [setup.bots[start : start + setup.players] for start in starts]
        self.blocks = len(self._tables)

    def rounds(self, run: Progress, scores: Scores) -> Iterator[Round]:
        """Yield a single round."""
        tables = enumerate(self._tables, 1)
        blocks = (self._maker.make(number, 1, "", table, 1) for number, table in tables)
        yield Round(1, self.blocks, blocks)


def estimate(cup: Cup, path: Path, observer: RunObserver) -> Estimate:
    """Play one block for each bot of a cup, and estimate the whole cup.

    The cup is in the file `path`. The deals are not those of the cup, because bots may remember
    them. Raises the errors of `run_cup`.
    """
    cup = replace(cup, seed=None, commit=False)
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="stich-estimate-"))
        store = stack.enter_context(Store.create(folder))
        stack.callback(store.forget)
        whole = resume(store, cup)
        launch, warnings = local_launch(cup, path, store)
        plan = _FirstBlocks(whole.setup)
        executor = LocalExecutor(cup, launch, tables_at_once(cup, plan.blocks))
        with Session(plan, Roster(cup), executor, store, observer) as session:
            session.play(*warnings)
        return extrapolate(cup, whole, list(store.matches()))


def extrapolate(cup: Cup, plan: Plan, played: Sequence[MatchRecord]) -> Estimate:
    """Return what a whole cup will take if each bot plays as in the matches that were `played`.
    Where later tables depend on results, all bots are assumed to play equally often."""
    said = {(one.bot, one.name): one.sum for one in info_sums(played)}
    bots, at_least = {}, [0.0]
    for bot in cup.bots:
        own = [record for record in played if bot.name in record.seating]
        always = cup.format.always()
        share = (cup.players - len(always)) / (len(cup.bots) - len(always))
        if bot.name in always:
            share = 1.0
        each = share * plan.matches / len(own)
        times = [record.times[record.seating.index(bot.name)] for record in own]
        bots[bot.name] = {
            "requests": each * sum(map(len, times)),
            "seconds": each * sum(map(sum, times)) / 1000,
            **{name: each * said[bot.name, name] for name in COSTS if (bot.name, name) in said},
        }
        if bot.url is not None:  # it plays at no more tables at once
            at_least.append(each * sum(record.wall_ms for record in own) / 1000 / bot.max_matches)
    besides = fmean(record.wall_ms - sum(map(sum, record.times)) for record in played) / 1000
    spent = sum(one["seconds"] for one in bots.values()) + plan.matches * besides
    return Estimate(
        plan.matches,
        forced=plan.matches * fmean(len(record.forced) for record in played),
        seconds=max(spent / min(cup.run.concurrency, plan.blocks), *at_least),
        played=len(played),
        faults=sum(len(record.faults) for record in played),
        bots=bots,
    )
