"""A ladder: epochs of tables, drawn from the bots that can play and their results so far.

Half of the tables are drawn evenly, in passes: each pass seats some bots once each. The other half
settles the top: bots whose order is still open meet. Thompson sampling, which draws a score for
each bot from its estimate, fills the other seats.
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
"""The number of blocks of an epoch. With fewer than twenty bots an epoch has two blocks for each
bot, so that a newcomer does not wait long. With many bots it has more blocks, so that half of them
seat every bot."""
NEW = 10
"""A bot with fewer blocks than this is new."""
KNOWN = 40
"""A bot with fewer blocks than this is seated for the top only by Thompson sampling."""
PAIRS = 2
"""A table for the top seats one of this many pairs whose order is open."""
HOPEFUL = 48
"""The bots for the other seats at a table for the top are drawn from this many, plus as many as a
table has seats."""
_STANDARD = NormalDist()


@dataclass(frozen=True, kw_only=True)
class Ladder(Format):
    """A format of epochs, during which bots may join or leave.

    `ends` is the time at which the ladder ends by itself (UTC, ISO 8601), or None.
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
        """Make the format from the checked keys of its section, without `type`."""
        ends = section.get("ends")
        return cls(**{**section, "ends": ends and utc(ends)})

    def plan(self, setup: Setup) -> Plan:
        """Return the plan of the epochs that a run has so far. It begins no new epoch."""
        return LadderPlan(setup)

    def usual_cards(self, remembers: bool) -> Cards:
        """Return "fresh", because connected bots may remember cards."""
        return "fresh"


class Lobby(Protocol):
    """The bots that are waiting for the next epoch of a ladder."""

    def gather(self, run: Progress) -> tuple[str, ...]:
        """Return the bots that can play now, in order of arrival. The call may take seconds."""


class LadderPlan(Plan):
    """The epochs of a run, one round each.

    An epoch begins once the previous one is complete, so its tables depend only on results that
    cannot change later. Without a `lobby`, as for a run that is only read, no epoch begins.
    """

    open_ended: ClassVar[bool] = True

    def __init__(self, setup: Setup, lobby: Lobby | None = None) -> None:
        super().__init__(setup)
        self._lobby = lobby
        self._known = KnownBots()
        self._learnt = 0  # the number of epochs in self._known
        self._offsets = [0]  # the number of blocks before each epoch, and after the last one
        self.blocks = 0  # not known in advance

    def next(self, run: Progress, scores: Scores) -> Batch | Wait | Done:
        """Return the blocks of the current epoch, or of a new one if the current one is complete.

        Returns `Wait` if there are too few bots for a table, and `Done` once a decision has ended
        the ladder. May take seconds when an epoch begins.
        """
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
        """Yield a round for each epoch, without the tables that were skipped."""
        return self._rounds(run, run.epochs)

    def open_rounds(self, run: Progress, scores: Scores) -> Iterator[Round]:
        """Yield the round of the last epoch. Earlier epochs are complete."""
        return self._rounds(run, run.epochs[-1:])

    def _rounds(self, run: Progress, epochs: Sequence[Epoch]) -> Iterator[Round]:
        skips = skipped(run.decisions)
        for epoch in epochs:
            offset = self._offset(run, epoch.number)
            yield Round(epoch.number, len(epoch.tables), self._play(epoch, offset, skips))

    def _offset(self, run: Progress, number: int) -> int:
        """Return the number of blocks before the epoch with this number."""
        for epoch in run.epochs[len(self._offsets) - 1 : number - 1]:
            self._offsets.append(self._offsets[-1] + len(epoch.tables))
        return self._offsets[number - 1]

    def _play(self, epoch: Epoch, offset: int, skips: Set[str]) -> Iterator[Block]:
        """Yield the blocks of an epoch without those that have a match in `skips`."""
        for number, (stage, table) in enumerate(epoch.tables, offset + 1):
            block = self._maker.make(number, epoch.number, stage, table, 1)
            if skips.isdisjoint(block.matches):
                yield block

    def total(self, run: Progress, scores: Scores, gone: Set[str]) -> int:
        """Return the number of matches that are finished or that the last epoch has left to play.

        Tables with bots in `gone` are not left to play.
        """
        missing = 0
        for round in self.open_rounds(run, scores):
            done = {match.match for match in scores.matches.summaries(round.number)}
            open = (block for block in round.blocks if gone.isdisjoint(block.table))
            missing += sum(match not in done for block in open for match in block.matches)
        return scores.matches.count() + missing

    def draw(
        self, run: Progress, scores: Scores, number: int, bots: Sequence[str]
    ) -> tuple[StageTable, ...]:
        """Return the tables of epoch `number` for the bots that can play, as (stage, table).

        There are none if there are too few bots for a table.
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
    """The record of a ladder's blocks so far, for bots by name."""

    def __init__(self) -> None:
        self.record = LadderRecord()
        self._numbers: dict[str, int] = {}

    def add(self, tables: Iterable[tuple[str, Mapping[str, float]]]) -> None:
        """Add the tables of an epoch, each as (stage, points per deal by bot)."""
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
        """Return the numbers of these bots in the record, and add bots that are not in it yet."""
        assigned = [self._numbers.setdefault(name, len(self._numbers)) for name in names]
        self.record.grow(len(self._numbers))
        return np.array(assigned, np.int64)

    def blocks(self, names: Sequence[str]) -> dict[str, int]:
        """Return the number of blocks that each of these bots has played, by name."""
        numbers = self.numbers(names)
        return dict(zip(names, self.record.blocks[numbers].tolist(), strict=True))


def draw_tables(
    seed: str, epoch: int, bots: Iterable[str], players: int, known: KnownBots, top: int = 3
) -> list[StageTable]:
    """The tables of an epoch, one block each, as (stage, table). Empty if there are too few bots.

    ``known`` must hold exactly the blocks of all earlier epochs. Bots that are not in ``known`` yet
    are added to it. ``top`` is the number of places to settle. The bots of one stage can be
    compared, since they sit at one table or, in a pass, have equal chances to sit at any of its
    tables.
    """
    names = sorted(bots)
    if len(names) < players:
        return []
    half = max(min(BLOCKS // 2, len(names)), len(names) // players)
    even = _even(seed, epoch, names, players, known, half)
    close = _close(seed, epoch, names, players, known, top, half)
    # Close tables seat the same few bots. Mixed with even tables, they can be played side by side.
    return list(chain.from_iterable(zip(even, close, strict=True)))


def _even(
    seed: str, epoch: int, names: list[str], players: int, known: KnownBots, blocks: int
) -> list[StageTable]:
    """Draw passes with `blocks` tables in total, as (stage, table).

    New bots are seated first. While there are new bots, a pass has at most one table for each.
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
    """Draw `blocks` tables for the top of the ladder, as (stage, table).

    Each table seats two bots whose order is open, then bots whose order relative to one of them is
    open, then others by Thompson sampling. If no order is open, Thompson sampling seats the bots
    around the last place of the top.
    """
    numbers = known.numbers(names)
    means, deviations = (estimate[numbers] for estimate in known.record.effects())
    best = np.argsort(-means, kind="stable")
    best = best[known.record.blocks[numbers[best]] >= KNOWN]
    pairs = _open_pairs(known.record, numbers, best, top)
    # The other bots are too far below to be drawn.
    hopeful = np.argsort(-(means + 2 * deviations), kind="stable")[: HOPEFUL + players].tolist()
    tables: list[StageTable] = []
    for number in range(1, blocks + 1):
        stage = f"epoch {epoch}, top {number}"
        drawn = {
            bot: means[bot] + deviations[bot] * _normal(seed, stage, names[bot]) for bot in hopeful
        }
        ranked = sorted(drawn, key=lambda bot: (-drawn[bot], bot))
        # The table is half above and half below the last place of the top. With an odd number of
        # players the extra seat is above and below alternately.
        line = max(0, min(top - (players + number % 2) // 2, len(names) - players))
        seated = [] if pairs else ranked[line:]
        if pairs:
            pair = pairs[int(draw("pair", seed, stage)[:12], 16) % min(PAIRS, len(pairs))]
            seated = [*pair, *(bot for two in pairs if {*pair} & {*two} for bot in two)]
        seated += ranked
        table = list(dict.fromkeys(seated))[:players]
        tables.append((stage, tuple(sorted(names[bot] for bot in table))))
    return tables


def _open_pairs(record: LadderRecord, numbers: Ints, best: Ints, top: int) -> list[tuple[int, int]]:
    """The pairs (better, worse) near the top whose order is not settled.

    The pairs are sorted by the lead of the better bot in standard deviations, the smallest first.
    Bots are given as indexes into ``numbers``, which has their numbers in the record. ``best`` has
    the known bots, best first. The candidates are neighbours among the first ``top`` of them, and
    the last of these paired with every known bot below the top.
    """
    settled, evidence = record.settled(), record.evidence()
    first, rest = best[:top].tolist(), best[top:].tolist()
    lead = {bot: evidence.of(slice(numbers[bot], numbers[bot] + 1)).deviate[0] for bot in first}
    pairs = [*pairwise(first), *product(first[-1:], rest)]
    at = {(better, worse): (numbers[better], numbers[worse]) for better, worse in pairs}
    still_open = [pair for pair, i in at.items() if not settled[i] and not settled[i[::-1]]]
    return sorted(still_open, key=lambda pair: (float(lead[pair[0]][at[pair][1]]), pair))


def _normal(seed: str, stage: str, name: str) -> float:
    """A standard normal deviate, drawn from the seed for a bot in a stage."""
    share = (int(draw("score", seed, stage, name)[:12], 16) + 0.5) / 16**12
    return _STANDARD.inv_cdf(share)
