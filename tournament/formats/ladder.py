"""A ladder: epochs of tables, drawn from the bots that can play and their results so far.

docs/statistics.md describes the even half of the tables and the half that settles the top.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, pairwise, product
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from tournament.decisions import finished_by, skipped
from tournament.formats.format import Cards, Format, Growth
from tournament.formats.plan import Block, Done, Plan, Progress, Round, Setup, Wait
from tournament.formats.scores import Scores, StageTable
from tournament.formats.seeds import draw, shuffled
from tournament.ranking.arrays import Ints
from tournament.ranking.ladder import LadderRecord
from tournament.records import Epoch
from tournament.settings.keys import MOMENT, key

BLOCKS = 40
"""The usual number of blocks of an epoch. With fewer than twenty bots, an epoch has fewer blocks,
so that a newcomer does not wait long. With many bots, it has more, so that every bot gets a seat in
the even half of the tables."""
NEW = 10
"""A bot with fewer blocks than this is new."""
KNOWN = 40
"""A bot with fewer blocks than this is seated for the top only by Thompson sampling."""
TOP = 3
"""The number of places whose order is settled first."""
PAIRS = 2
"""A table for the top seats one of this many pairs whose order is open."""
_HOPEFUL = 48  # the other seats for the top are drawn from this many bots, plus one for each player


@dataclass(frozen=True, kw_only=True)
class Ladder(Format):
    """A format of epochs, during which bots may join or leave. `ends` is the time at which the
    ladder ends by itself (UTC, ISO 8601), or None."""

    type: ClassVar[str] = "ladder"
    growth: ClassVar[Growth] = Growth(
        "bots are added to a ladder by `stich join` or `stich invite`"
    )
    skips_tables: ClassVar[bool] = True
    has_final_ranges: ClassVar[bool] = False
    keeps_blocks_fixed: ClassVar[bool] = False

    ends: str | None = key(None, MOMENT)

    def plan(self, setup: Setup) -> Plan:
        """Return a plan that has the epochs of the run so far and begins no new epoch."""
        return LadderPlan(setup)

    def usual_cards(self, remembers: bool) -> Cards:
        """Always return "fresh", because connecting bots may remember cards."""
        return "fresh"


class LadderPlan(Plan):
    """The plan of a ladder, in which each epoch of the run is a round.

    An epoch begins once the previous one is complete, so its tables depend only on results that
    cannot change later. `gather` returns the bots that can play now, in the order of the cup, and
    may take seconds. By default it returns no bots, so that no epoch begins.
    """

    def __init__(
        self, setup: Setup, gather: Callable[[Progress], tuple[str, ...]] = lambda _run: ()
    ) -> None:
        super().__init__(setup)
        self._gather = gather
        self._known = KnownBots()
        self._learnt = 0  # the number of epochs in self._known
        self.blocks = 0

    def next(self, run: Progress, scores: Scores) -> Round | Wait | Done:
        """Return the round of the last epoch. When called again, or if there is no epoch yet,
        begin a new epoch and return its round.

        `Plan.next` says when to call again. If the round has an `epoch`, the epoch is new, and the
        caller must store it. Return `Wait` if the bots from `gather` do not fill a table, and
        `Done` once a decision has ended the ladder and the last epoch is complete.

        Raises:
            StoreError: if the finished matches cannot be read.
            StichError: if `gather` raises it, for instance because the gateway no longer answers.
        """
        step = super().next(run, scores)
        if isinstance(step, Round) or finished_by(run.decisions):
            return step
        bots = self._gather(run)
        if len(bots) < self.setup.players:
            return Wait("The ladder waits until enough bots for a table are connected.")
        number = len(run.epochs) + 1
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        epoch = Epoch(number, at, bots, self.draw(run, scores, number, bots))
        blocks = self._play(epoch, _blocks(run.epochs), frozenset())
        return Round(number, len(epoch.tables), blocks, epoch)

    def rounds(self, run: Progress, scores: Scores) -> Iterator[Round]:
        """Yield a round for each epoch so far, without the blocks that were skipped."""
        return self._rounds(run, 0)

    def open_rounds(self, run: Progress, scores: Scores) -> Iterator[Round]:
        """Yield the round of the last epoch, if there is one. Earlier epochs are complete."""
        return self._rounds(run, max(0, len(run.epochs) - 1))

    def _rounds(self, run: Progress, complete: int) -> Iterator[Round]:
        skips, offset = skipped(run.decisions), _blocks(run.epochs[:complete])
        for epoch in run.epochs[complete:]:
            yield Round(epoch.number, len(epoch.tables), self._play(epoch, offset, skips))
            offset += len(epoch.tables)

    def _play(self, epoch: Epoch, offset: int, skips: Set[str]) -> Iterator[Block]:
        """Yield the blocks of an epoch, numbered from `offset` + 1. Blocks with a match in `skips`
        are left out, but keep their numbers."""
        for number, (stage, table) in enumerate(epoch.tables, offset + 1):
            block = self._maker.make(number, epoch.number, stage, table, 1)
            if skips.isdisjoint(block.matches):
                yield block

    def total(self, run: Progress, scores: Scores, gone: Set[str]) -> int:
        """Return the number of finished matches plus the number that are still to be played in the
        last epoch. Skipped blocks, and tables with a bot in `gone`, will not be played.

        Raises:
            StoreError: if the finished matches cannot be read.
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
        """Return the tables of epoch `number` for these bots (see `draw_tables`).

        All earlier epochs must be complete. The plan reads the results of each epoch only once, so
        `number` must not decrease from one call to the next.

        Raises:
            StoreError: if the finished matches cannot be read.
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


def _blocks(epochs: Iterable[Epoch]) -> int:
    return sum(len(epoch.tables) for epoch in epochs)


class KnownBots:
    """The record of a ladder's blocks so far, and the number that each bot has in the record."""

    def __init__(self) -> None:
        self.record = LadderRecord()
        self._numbers: dict[str, int] = {}

    def add(self, tables: Iterable[tuple[str, Mapping[str, float]]]) -> None:
        """Add all finished tables of the next epoch, in the order of the epoch. Each table is a
        tuple of its stage and the points per deal of each bot."""
        draws: dict[str, int] = {}
        rows = [
            (block, name, points[name], draws.setdefault(stage, len(draws)))
            for block, (stage, points) in enumerate(tables)
            for name in sorted(points)
        ]
        if rows:
            block, names, points, drawn = zip(*rows, strict=True)
            numbers = self.numbers(names)
            self.record.add(np.array(block), numbers, np.array(points, np.float64), np.array(drawn))

    def numbers(self, names: Iterable[str]) -> Ints:
        """Return the number of each bot in the record, in the order of `names`. Add bots that are
        new to the record."""
        assigned = [self._numbers.setdefault(name, len(self._numbers)) for name in names]
        self.record.grow(len(self._numbers))
        return np.array(assigned, np.int64)


def draw_tables(
    seed: str, epoch: int, bots: Iterable[str], players: int, known: KnownBots
) -> list[StageTable]:
    """Draw the tables of an epoch for `bots`, as (stage, table). Each table plays one block.

    The result is empty if there are fewer bots than `players`. `known` must hold exactly the blocks
    of all earlier epochs. New bots are added to `known`. The bots of a stage can be compared, since
    a stage has one table, or several tables at which its bots have equal chances to sit.
    """
    names = sorted(bots)
    if len(names) < players:
        return []
    half = max(min(BLOCKS // 2, len(names)), len(names) // players)
    numbers = known.numbers(names)
    played = Counter(dict(zip(names, known.record.blocks[numbers].tolist(), strict=True)))
    even = _even(seed, epoch, names, players, played, half)
    close = _close(seed, epoch, names, players, known.record, numbers, half)
    # Close tables seat the same few bots. Mixed with even tables, they can be played side by side.
    return list(chain.from_iterable(zip(even, close, strict=True)))


def _even(
    seed: str, epoch: int, names: list[str], players: int, played: Counter[str], blocks: int
) -> list[StageTable]:
    """Draw `blocks` tables, as (stage, table), in passes. No bot sits twice in a pass. While there
    are new bots (see `NEW`), a pass seats the new bots first, and has at most as many tables as
    there are new bots. Update `played`, the number of blocks of each bot, with the drawn tables."""
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
    seed: str,
    epoch: int,
    names: list[str],
    players: int,
    record: LadderRecord,
    numbers: Ints,
    blocks: int,
) -> list[StageTable]:
    """Draw `blocks` tables, as (stage, table), for the top of the ladder. `numbers` has the number
    in `record` of each bot in `names`.

    A table seats an open pair (see `_open_pairs`), then bots that form an open pair with one of the
    two, then the bots that Thompson sampling ranks first. If there is no open pair, the table seats
    the bots that Thompson sampling ranks around the last place of the top (see `TOP`).
    """
    means, deviations = (estimate[numbers] for estimate in record.effects())
    best = np.argsort(-means, kind="stable")
    best = best[record.blocks[numbers[best]] >= KNOWN]
    pairs = _open_pairs(record, numbers, best)
    # The other bots are too far below to be drawn.
    hopeful = np.argsort(-(means + 2 * deviations), kind="stable")[: _HOPEFUL + players].tolist()
    tables: list[StageTable] = []
    for number in range(1, blocks + 1):
        stage = f"epoch {epoch}, top {number}"
        drawn = {
            bot: means[bot] + deviations[bot] * _normal(seed, stage, names[bot]) for bot in hopeful
        }
        ranked = sorted(drawn, key=lambda bot: (-drawn[bot], bot))
        # The table is half above and half below the last place of the top. With an odd number of
        # players the extra seat is above and below alternately.
        line = max(0, min(TOP - (players + number % 2) // 2, len(names) - players))
        first = ranked[line:]
        if pairs:
            pair = pairs[int(draw("pair", seed, stage)[:12], 16) % min(PAIRS, len(pairs))]
            first = [*pair, *(bot for two in pairs if {*pair} & {*two} for bot in two)]
        table = list(dict.fromkeys([*first, *ranked]))[:players]
        tables.append((stage, tuple(sorted(names[bot] for bot in table))))
    return tables


def _open_pairs(record: LadderRecord, numbers: Ints, best: Ints) -> list[tuple[int, int]]:
    """Return the pairs (better, worse) near the top whose order is not settled, sorted by the
    evidence that the first bot is better, weakest first.

    A bot is an index into `numbers`. `best` has the candidates, best first. A pair is near the top
    if it consists of neighbours among the first `TOP` candidates, or of the last of these `TOP`
    candidates and any candidate below.
    """
    settled, evidence = record.settled(), record.evidence()
    first, rest = best[:TOP].tolist(), best[TOP:].tolist()
    lead = {bot: evidence.of(slice(numbers[bot], numbers[bot] + 1)).deviate[0] for bot in first}
    pairs = [*pairwise(first), *product(first[-1:], rest)]
    at = {pair: (numbers[pair[0]], numbers[pair[1]]) for pair in pairs}
    still_open = [pair for pair, i in at.items() if not settled[i] and not settled[i[::-1]]]
    return sorted(still_open, key=lambda pair: (float(lead[pair[0]][at[pair][1]]), pair))


def _normal(seed: str, stage: str, name: str) -> float:
    share = (int(draw("score", seed, stage, name)[:12], 16) + 0.5) / 16**12
    return NormalDist().inv_cdf(share)
