"""What a cup will take, from a first block for each of its bots that is played and not kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from tournament.config import Cup
from tournament.formats import Block, Round, Schedule
from tournament.formats.round_scores import RoundScores
from tournament.formats.schedule import BlockMaker
from tournament.records import MatchRecord
from tournament.results.info_sums import info_sums
from tournament.run.local_executor import LocalExecutor, tables_at_once
from tournament.run.resume import resume
from tournament.run.runner import Observer
from tournament.run.session import local_launch, play_all
from tournament.store.store import Store

COSTS = ("input_tokens", "output_tokens", "cost")
"""The numbers of `info` that are estimated."""


@dataclass(frozen=True, slots=True)
class Share:
    """What one bot will take: its matches, its requests, their time in seconds, and by name those
    of COSTS that it gives. `faults` are those of the matches that were played."""

    bot: str
    matches: float
    requests: float
    seconds: float
    costs: Mapping[str, float]
    faults: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a whole cup will take, from so many matches that were `played`: `forced` moves are asked
    of nobody, `seconds` is with all its tables."""

    matches: int
    forced: float
    seconds: float
    played: int
    bots: tuple[Share, ...]

    @property
    def requests(self) -> float:
        """Those to all bots."""
        return sum(share.requests for share in self.bots)


class _FirstBlocks(Schedule):
    """A block at each of so many tables that every bot sits at one."""

    def __init__(self, cup: Cup, seed: str, match_key: str) -> None:
        self._maker = BlockMaker(cup, seed, match_key, "rotations")
        hub = [cup.format.challenger] if cup.format.challenger is not None else []
        rest = [name for name in cup.names if name not in hub]
        free = cup.players - len(hub)
        starts = [*range(0, len(rest) - free, free), len(rest) - free]
        self._tables = [(*hub, *rest[start : start + free]) for start in starts]
        self.blocks = len(self._tables)
        self.matches = self.blocks * self._maker.matches

    def rounds(self, scores: RoundScores) -> Iterator[Round]:
        """One round."""
        yield Round(1, self.blocks, self._blocks())

    def _blocks(self) -> Iterator[Block]:
        for number, table in enumerate(self._tables, 1):
            yield self._maker.make(number, 1, "", self._maker.in_order(table), 1)


def estimate(cup: Cup, path: Path, observer: Observer) -> Estimate:
    """Play a block for each bot of the cup in the file `path`: what the whole cup will take.

    The deals are others than those of the cup: bots may remember them. Raises as `run_cup`.
    """
    cup = replace(cup, seed=None, commit=False)
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="stich-estimate-"))
        store = stack.enter_context(Store.create(folder))
        stack.callback(store.forget)
        seed, whole = resume(store, cup)
        launch, warnings = local_launch(cup, path, store)
        first = _FirstBlocks(cup, seed, store.facts()["match_key"])
        executor = LocalExecutor(cup, launch, tables_at_once(cup, first.blocks))
        play_all(cup, first, store, executor, observer, *warnings)
        return extrapolate(cup, whole, list(store.matches()))


def extrapolate(cup: Cup, schedule: Schedule, played: Sequence[MatchRecord]) -> Estimate:
    """What a whole cup will take, if each bot plays on as in the matches that were `played`; where
    later tables follow from results, every bot counts as playing equally many."""
    matches = schedule.matches
    said = {(one.bot, one.name): one.total for one in info_sums(played)}
    shares, at_least = [], [0.0]
    for bot in cup.bots:
        own = [record for record in played if bot.name in record.seating]
        if cup.format.challenger is None:
            count = matches * cup.players / len(cup.bots)
        elif cup.format.challenger == bot.name:
            count = float(matches)
        else:
            count = matches * (cup.players - 1) / (len(cup.bots) - 1)
        times = [record.times[record.seating.index(bot.name)] for record in own]
        each = count / len(own)
        shares.append(
            Share(
                bot.name,
                count,
                requests=each * sum(map(len, times)),
                seconds=each * sum(map(sum, times)) / 1000,
                costs={
                    name: each * said[bot.name, name] for name in COSTS if (bot.name, name) in said
                },
                faults=sum(
                    record.seating[fault.seat] == bot.name
                    for record in own
                    for fault in record.faults
                ),
            )
        )
        if bot.url is not None:  # not at more tables at once
            at_least.append(each * sum(record.wall_ms for record in own) / 1000 / bot.max_matches)
    besides = fmean(record.wall_ms - sum(map(sum, record.times)) for record in played) / 1000
    spent = sum(share.seconds for share in shares) + matches * max(0.0, besides)
    tables = min(cup.run.concurrency, schedule.blocks)
    return Estimate(
        matches,
        forced=matches * fmean(len(record.forced) for record in played),
        seconds=max(spent / tables, *at_least),
        played=len(played),
        bots=tuple(shares),
    )
