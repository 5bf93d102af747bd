"""A ladder: epochs of tables, drawn from the bots that can play and their results so far.

Half of the tables are drawn evenly, in passes: a pass seats some bots, once each. The other half
settles the top, by Thompson sampling: a score is drawn for each bot from its estimate.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, pairwise, product
from statistics import NormalDist
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from tournament.decisions import finished_by, skipped
from tournament.formats.draws import draw, shuffled
from tournament.formats.format import Cards, Format, Growth
from tournament.formats.plan import Batch, Block, Done, Plan, Progress, Round, Setup, Wait
from tournament.formats.scores import Scores, StageTable
from tournament.ranking.arrays import Ints
from tournament.ranking.ladder import LadderRecord
from tournament.records import Epoch
from tournament.settings.keys import MOMENT, key, utc

BLOCKS = 40
"""The number of blocks of an epoch. With fewer than twenty bots there are only two blocks for each
bot, so that a newcomer does not wait long. With many bots there are more blocks, so that half of
them seat every bot."""
NEW = 10
"""A bot with fewer blocks is new."""
KNOWN = 40
"""A bot with fewer blocks is seated for the top only by Thompson sampling."""
PAIRS = 2
"""Each table for the top seats one of this many pairs whose order is open."""
HOPEFUL = 48
"""The number of bots from which the other seats at a table for the top are drawn."""
_STANDARD = NormalDist()


@dataclass(frozen=True, kw_only=True)
class Ladder(Format):
    """Epochs of tables, while bots come and go.

    `ends` is the end in UTC, ISO 8601, or None without an end.
    """

    type: ClassVar[str] = "ladder"
    growth: ClassVar[Growth] = Growth(
        "bots are added to a ladder by `stich join` or `stich invite`"
    )
    skips_tables: ClassVar[bool] = True
    has_final_ranges: ClassVar[bool] = False
    keeps_blocks_fixed: ClassVar[bool] = False

    ends: str | None = key(None, MOMENT)

    @classmethod
    def of_section(cls, section: Mapping[str, Any]) -> Self:
        """Make the format from the checked keys of its section."""
        ends = section.get("ends")
        return cls(**{**section, "ends": ends and utc(ends)})

    def plan(self, setup: Setup) -> Plan:
        """Return the plan of the epochs that a run has."""
        return LadderPlan(setup)

    def usual_cards(self, remembers: bool) -> Cards:
        """Return "fresh", because bots that connect may remember cards."""
        return "fresh"


class Lobby(Protocol):
    """The bots that wait for the next epoch of a ladder."""

    def gather(self, run: Progress) -> tuple[str, ...]:
        """Return the bots that can play now, in the order of their arrival. May take seconds."""


class LadderPlan(Plan):
    """The epochs of a run, each a round.

    The next epoch begins once the one before is complete. So its tables depend only on results that
    cannot change later. Without a `lobby` no epoch begins, as for a run that is only read.
    """

    open_ended: ClassVar[bool] = True

    def __init__(self, setup: Setup, lobby: Lobby | None = None) -> None:
        super().__init__(setup)
        self._lobby = lobby
        self._known = KnownBots()
        self._learnt = 0  # epochs
        self._offsets = [0]  # the number of blocks before each epoch, and after the last one
        self.blocks = 0  # so many are known from the beginning

    def next(self, run: Progress, scores: Scores) -> Batch | Wait | Done:
        """Return the tables of the current epoch, or of the next one if the current is complete."""
        step = super().next(run, scores)
        if isinstance(step, Batch) or finished_by(run.decisions):
            return step
        bots = self._lobby.gather(run) if self._lobby is not None else ()
        if len(bots) < self.setup.players:
            return Wait("The ladder waits until enough bots for a table are connected.")
        number = len(run.epochs) + 1
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        epoch = Epoch(number, at, bots, self.draw(run, scores, number, bots))
        return Batch(number, self._play(epoch, self._offset(run, number), frozenset()), epoch)

    def rounds(self, run: Progress, scores: Scores) -> Iterator[Round]:
        """Yield the epochs, without the tables that were skipped."""
        return self._rounds(run, run.epochs)

    def open_rounds(self, run: Progress, scores: Scores) -> Iterator[Round]:
        """Yield the last epoch."""
        return self._rounds(run, run.epochs[-1:])

    def _rounds(self, run: Progress, epochs: Sequence[Epoch]) -> Iterator[Round]:
        gone = skipped(run.decisions)
        for epoch in epochs:
            offset = self._offset(run, epoch.number)
            yield Round(epoch.number, len(epoch.tables), self._play(epoch, offset, gone))

    def _offset(self, run: Progress, number: int) -> int:
        """Return the number of blocks before the epoch with this number."""
        for epoch in run.epochs[len(self._offsets) - 1 : number - 1]:
            self._offsets.append(self._offsets[-1] + len(epoch.tables))
        return self._offsets[number - 1]

    def _play(self, epoch: Epoch, offset: int, gone: Set[str]) -> Iterator[Block]:
        for number, (stage, table) in enumerate(epoch.tables, offset + 1):
            block = self._maker.make(number, epoch.number, stage, table, 1)
            if gone.isdisjoint(block.matches):
                yield block

    def total(self, run: Progress, scores: Scores, gone: Set[str]) -> int:
        """Return the number of matches to the end of the last epoch."""
        missing = 0
        for part in self.open_rounds(run, scores):
            done = {match.match for match in scores.matches.summaries(part.number)}
            open = (block for block in part.blocks if gone.isdisjoint(block.table))
            missing += sum(match not in done for block in open for match in block.matches)
        return scores.matches.count() + missing

    def draw(
        self, run: Progress, scores: Scores, number: int, bots: Sequence[str]
    ) -> tuple[StageTable, ...]:
        """Return the tables of epoch `number` for the bots that can play.

        There are none if the bots are too few.
        """
        for epoch in run.epochs[self._learnt : number - 1]:
            points = scores(epoch.number)
            self._known.add(
                (table[0], {bot: float(score) for bot, score in points[table].items()})
                for table in epoch.tables
                if table in points
            )
            self._learnt = epoch.number
        seed, players = self.setup.seed, self.setup.players
        return tuple(draw_tables(seed, number, bots, players, self._known))


class KnownBots:
    """The blocks of a ladder so far, by bot."""

    def __init__(self) -> None:
        self.record = LadderRecord()
        self._numbers: dict[str, int] = {}

    def add(self, tables: Iterable[tuple[str, Mapping[str, float]]]) -> None:
        """Add the tables of an epoch: the stage of each, and the points per deal of its bots."""
        rows = [
            (block, name, points[name], stage)
            for block, (stage, points) in enumerate(tables)
            for name in sorted(points)
        ]
        if rows:
            block, names, points, stages = zip(*rows, strict=True)
            draws = {stage: number for number, stage in enumerate(dict.fromkeys(stages))}
            self.record.add(
                np.array(block),
                self.numbers(names),
                np.array(points, np.float64),
                np.array([draws[stage] for stage in stages]),
            )

    def numbers(self, names: Iterable[str]) -> Ints:
        """Return the numbers of these bots in the record. Bots that are new get a number."""
        assigned = [self._numbers.setdefault(name, len(self._numbers)) for name in names]
        self.record.grow(len(self._numbers))
        return np.array(assigned, np.int64)

    def blocks(self, names: Sequence[str]) -> dict[str, int]:
        """Return the number of blocks of each of these bots, by name."""
        numbers = self.numbers(names)
        return dict(zip(names, self.record.blocks[numbers].tolist(), strict=True))


def draw_tables(
    seed: str, epoch: int, bots: Iterable[str], players: int, known: KnownBots, top: int = 3
) -> list[StageTable]:
    """The tables of an epoch, one block each, with their stages, or none if the bots are too few.

    ``known`` holds exactly the blocks of all earlier epochs. The bots of one stage can be compared,
    since they sit at one table or, in a pass, at tables with equal chances.
    """
    names = sorted(bots)
    if len(names) < players:
        return []
    half = max(min(BLOCKS // 2, len(names)), len(names) // players)
    even = _even(seed, epoch, names, players, known, half)
    close = _close(seed, epoch, names, players, known, top, half)
    # Close tables seat the same few bots: in turn with the others they can be played side by side.
    return list(chain.from_iterable(zip(even, close, strict=True)))


def _even(
    seed: str, epoch: int, names: list[str], players: int, known: KnownBots, blocks: int
) -> list[StageTable]:
    """Passes with `blocks` tables in total, drawn evenly.

    Newcomers sit in every pass. While there are newcomers, a pass has at most as many tables as
    there are newcomers.
    """
    played = Counter(known.blocks(names))
    tables: list[StageTable] = []
    number = 0
    while len(tables) < blocks:
        number += 1
        stage = f"epoch {epoch}, even {number}"
        drawn = shuffled(names, "ladder", seed, stage)
        new = [name for name in drawn if played[name] < NEW]
        size = min(len(new) or len(names), len(names) // players, blocks - len(tables))
        drawn.sort(key=lambda name: played[name] >= NEW)
        seated = shuffled(drawn[: size * players], "pass", seed, stage)
        played.update(seated)
        tables += [
            (stage, tuple(sorted(seated[start : start + players])))
            for start in range(0, len(seated), players)
        ]
    return tables


def _close(
    seed: str, epoch: int, names: list[str], players: int, known: KnownBots, top: int, blocks: int
) -> list[StageTable]:
    """Tables for the top of the ladder.

    Each table seats two bots whose order is open and little known, then bots whose order with these
    is open, then others by Thompson sampling.
    """
    numbers = known.numbers(names)
    means, deviations = (each[numbers] for each in known.record.effects())
    best = np.argsort(-means, kind="stable")
    best = best[known.record.blocks[numbers[best]] >= KNOWN]
    pairs = _open_pairs(known.record, numbers, best, top)
    # Others are too far below to be drawn.
    hopeful = np.argsort(-(means + 2 * deviations), kind="stable")[: HOPEFUL + players].tolist()
    tables: list[StageTable] = []
    for number in range(1, blocks + 1):
        stage = f"epoch {epoch}, top {number}"
        drawn = {
            bot: means[bot] + deviations[bot] * _normal(seed, stage, names[bot]) for bot in hopeful
        }
        ranked = sorted(drawn, key=lambda bot: (-drawn[bot], bot))
        # With an odd number of players there is one more above the line below the top, in turn.
        line = max(0, min(top - (players + number % 2) // 2, len(names) - players))
        seated = [] if pairs else ranked[line:]
        if pairs:
            pair = pairs[_share(seed, "pair", stage, min(PAIRS, len(pairs)))]
            seated = [*pair, *(bot for two in pairs if {*pair} & {*two} for bot in two)]
        seated += ranked
        table = list(dict.fromkeys(seated))[:players]
        tables.append((stage, tuple(sorted(names[bot] for bot in table))))
    return tables


def _open_pairs(record: LadderRecord, numbers: Ints, best: Ints, top: int) -> list[tuple[int, int]]:
    """The pairs of bots near the top whose order is open, the least known first.

    The candidates are neighbours among the first ``top`` of ``best``, and the last of these with
    each of the other bots.
    """
    settled, found = record.settled(), record.evidence()
    first, rest = best[:top].tolist(), best[top:].tolist()
    lead = {bot: found.of(slice(numbers[bot], numbers[bot] + 1)).deviate[0] for bot in first}
    pairs = [*pairwise(first), *product(first[-1:], rest)]
    at = {(one, other): (numbers[one], numbers[other]) for one, other in pairs}
    still = [pair for pair, here in at.items() if not settled[here] and not settled[here[::-1]]]
    return sorted(still, key=lambda pair: (float(lead[pair[0]][at[pair][1]]), pair))


def _share(seed: str, what: str, stage: str, count: int) -> int:
    """A number from 0 to ``count`` - 1, drawn with equal chances."""
    return int(draw(what, seed, stage)[:12], 16) % count


def _normal(seed: str, stage: str, name: str) -> float:
    """A standard normal deviate, drawn for a bot in a stage."""
    share = (int(draw("score", seed, stage, name)[:12], 16) + 0.5) / 16**12
    return _STANDARD.inv_cdf(share)
