"""Estimates of the time, requests and costs of a cup, from a few blocks with all its bots."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from tournament.bot.launch import with_variables
from tournament.config.cup import Cup
from tournament.formats import Plan, Round, Setup
from tournament.formats.plan import Progress
from tournament.formats.scores import Scores
from tournament.records import MatchRecord
from tournament.results.info_sums import info_sums
from tournament.run.assembly import local_launch
from tournament.run.observer import RunObserver
from tournament.run.resume import resume
from tournament.run.roster import Roster
from tournament.run.session import Session
from tournament.run.workers.local_executor import LocalExecutor, tables_at_once
from tournament.store.store import Store

COSTS = ("input_tokens", "output_tokens", "cost")
"""The numbers in a bot's `info` that an estimate includes."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate for a whole cup of `matches` matches, from `played` matches with `faults` faults.

    `forced` counts the forced moves of the whole cup, for which no bot is asked. `seconds` is the
    duration of the cup if as many tables play at once as it allows. `bots` maps each bot to its
    number of `requests`, its thinking time in `seconds`, and those of the COSTS that it states.
    """

    matches: int
    forced: float
    seconds: float
    played: int
    faults: int
    bots: Mapping[str, Mapping[str, float]]


class _FirstBlocks(Plan):
    """A plan with one block at each table, and with as few tables as can seat every bot."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(replace(setup, seating="rotations"))
        last = len(setup.bots) - setup.players
        starts = [*range(0, last, setup.players), last]
        self._tables = [setup.bots[start : start + setup.players] for start in starts]
        self.blocks = len(self._tables)

    def rounds(self, run: Progress, scores: Scores) -> Iterator[Round]:
        tables = enumerate(self._tables, 1)
        blocks = (self._maker.make(number, 1, "", table, 1) for number, table in tables)
        yield Round(1, self.blocks, blocks)


def estimate(cup: Cup, path: Path, observer: RunObserver) -> Estimate:
    """Play a few blocks that seat every bot of the cup in the file `path`, and estimate the whole
    cup. Keep no results. The cup must not be a ladder or have connecting bots.

    The deals of these blocks do not occur in the cup, because bots may remember deals.

    Raises:
        SandboxError: if the bots must run in a sandbox, but none is available.
        StartError: if a bot cannot play, or the rules service does not answer.
        RunError: if the blocks cannot be played.
        StoreError: if the temporary store or the user's key cannot be used.
        OSError: if no temporary folder can be created.
    """
    cup = replace(cup, seed=None, commit=False)
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="stich-estimate-"))
        store = stack.enter_context(Store.create(folder))
        stack.callback(store.forget)
        whole = resume(store, cup)
        launch, warnings = local_launch(cup, path, store)
        plan = _FirstBlocks(whole.setup)
        executor = LocalExecutor(with_variables(cup), launch, tables_at_once(cup, plan.blocks))
        with Session(plan, Roster(cup), executor, store, observer) as session:
            session.play(*warnings)
        return extrapolate(cup, whole, list(store.matches()))


def extrapolate(cup: Cup, plan: Plan, played: Sequence[MatchRecord]) -> Estimate:
    """Estimate a whole cup with this plan from `played` matches. Every bot must have played in at
    least one match. Bots that do not sit at every table are assumed to play equally many matches.
    """
    sums = {(total.bot, total.name): total.sum for total in info_sums(played)}
    always = cup.format.always()
    seats = cup.players - len(always)  # for the other bots
    bots, at_least = {}, [0.0]
    for bot in cup.bots:
        records = [record for record in played if bot.name in record.seating]
        share = 1.0 if bot.name in always else seats / (len(cup.bots) - len(always))
        scale = share * plan.matches / len(records)
        times = [record.times[record.seating.index(bot.name)] for record in records]
        bots[bot.name] = {
            "requests": scale * sum(map(len, times)),
            "seconds": scale * sum(map(sum, times)) / 1000,
            **{name: scale * sums[bot.name, name] for name in COSTS if (bot.name, name) in sums},
        }
        if bot.url is not None:  # it plays at no more than `max_matches` tables at once
            wall_ms = sum(record.wall_ms for record in records)
            at_least.append(scale * wall_ms / 1000 / bot.max_matches)
    overhead = fmean(record.wall_ms - sum(map(sum, record.times)) for record in played) / 1000
    spent = sum(costs["seconds"] for costs in bots.values()) + plan.matches * overhead
    return Estimate(
        plan.matches,
        forced=plan.matches * fmean(len(record.forced) for record in played),
        seconds=max(spent / min(cup.run.concurrency, plan.blocks), *at_least),
        played=len(played),
        faults=sum(len(record.faults) for record in played),
        bots=bots,
    )
