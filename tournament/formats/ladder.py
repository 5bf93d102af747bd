"""A ladder: epochs of tables, drawn from the bots that can play and what is known of them.

Half of the tables are drawn evenly, in passes: a pass seats some bots, once each. The other half
settles the top, by Thompson sampling: a score is drawn for each bot from what is known of it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import accumulate, chain, pairwise, product
from statistics import NormalDist

import numpy as np

from tournament.config.cup import Cup
from tournament.decisions import decided, is_skipped
from tournament.formats.draws import draw, shuffled
from tournament.formats.round_scores import RoundScores, StageTable
from tournament.formats.schedule import Block, Round, Schedule
from tournament.ranking.arrays import Ints
from tournament.ranking.ladder import LadderRecord
from tournament.records import DecisionKind, Epoch

BLOCKS = 40
"""Blocks of an epoch. Fewer than twenty bots have two each, so that a newcomer does not wait long;
many have more, so that half of the blocks seat everybody."""
NEW = 10
"""A bot with fewer blocks is new."""
PAIRS = 2
"""Pairs whose order is open that an epoch seats together."""
HOPEFUL = 48
"""Bots of which the others at such a table are drawn."""


class Ladder(Schedule):
    """The epochs that the store has, each a round. The next one begins when the one before is
    complete; so results decide its tables, and nothing later does."""

    def __init__(self, cup: Cup, seed: str, match_key: str) -> None:
        super().__init__(cup, seed, match_key)
        self._known = KnownBots()
        self._learnt = 0  # epochs
        self.blocks = 0  # so many are known from the beginning

    def rounds(self, scores: RoundScores) -> Iterator[Round]:
        """The epochs without the tables that were skipped."""
        return self._rounds(scores, 0)

    def open_rounds(self, scores: RoundScores) -> Iterator[Round]:
        """The last epoch."""
        return self._rounds(scores, -1)

    def _rounds(self, scores: RoundScores, first: int) -> Iterator[Round]:
        epochs = scores.run.epochs()
        offsets = accumulate((len(epoch.tables) for epoch in epochs), initial=0)
        skipped = {
            match
            for one in decided(scores.run.facts())
            if one.kind == DecisionKind.SKIP
            for match in one.matches
        }
        for epoch, offset in [*zip(epochs, offsets, strict=False)][first:]:
            yield Round(epoch.number, len(epoch.tables), self._play(epoch, offset, skipped))

    def _play(self, epoch: Epoch, offset: int, skipped: Set[str]) -> Iterator[Block]:
        for number, (stage, table) in enumerate(epoch.tables, offset + 1):
            block = self._maker.make(number, epoch.number, stage, table, 1)
            if skipped.isdisjoint(block.matches):
                yield block

    def planned_matches(self, gone: Set[str], scores: RoundScores) -> int:
        """The number of matches to the end of the last epoch."""
        done = {match.match for match in scores.run.summaries()}
        missing = (
            match
            for part in self.open_rounds(scores)
            for block in part.blocks
            if not is_skipped(self._cup, block.table, frozenset(gone))
            for match in block.matches
        )
        return len(done.union(missing))

    def draw(self, scores: RoundScores, number: int, bots: Sequence[str]) -> tuple[StageTable, ...]:
        """The tables of the epoch with this number, for the bots that can play; none if they are
        too few."""
        for epoch in scores.run.epochs()[self._learnt : number - 1]:
            points = scores(epoch.number)
            self._known.add(
                (table[0], {bot: float(score) for bot, score in points[table].items()})
                for table in epoch.tables
                if table in points
            )
            self._learnt = epoch.number
        return tuple(draw_tables(self._seed, number, bots, self._cup.players, self._known))


class KnownBots:
    """The blocks of a ladder so far, by the names of its bots."""

    def __init__(self) -> None:
        self.record = LadderRecord()
        self._numbers: dict[str, int] = {}

    def add(self, tables: Iterable[tuple[str, Mapping[str, float]]]) -> None:
        """Add the tables of an epoch: the stage of each, and the points a deal of its bots."""
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
        """The numbers of these bots in the record."""
        found = [self._numbers.setdefault(name, len(self._numbers)) for name in names]
        self.record.grow(len(self._numbers))
        return np.array(found, np.int64)

    def blocks(self, names: Sequence[str]) -> dict[str, int]:
        """The number of blocks of each of these bots."""
        numbers = self.numbers(names)
        return dict(zip(names, self.record.blocks[numbers].tolist(), strict=True))


def draw_tables(
    seed: str, epoch: int, bots: Iterable[str], players: int, known: KnownBots, top: int = 3
) -> list[StageTable]:
    """The tables of an epoch, a block each, with their stages; none if the bots are too few.

    ``known`` has all blocks of the epochs before and no others. The bots of one stage can be
    compared: they sit at one table or, in a pass, at tables of equal chances.
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
    """Passes of so many blocks together. Newcomers sit in every pass, and as long as there are
    some, it has only as many tables as newcomers."""
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
    """Tables for the top: at each, two bots whose order is open and of which little is known, then
    bots whose order with these is open, then others by Thompson sampling."""
    numbers = known.numbers(names)
    means, deviations = (each[numbers] for each in known.record.effects())
    best = np.argsort(-means, kind="stable")
    best = best[known.record.blocks[numbers[best]] >= NEW]
    pairs = _open_pairs(known.record, numbers, best, top)
    # Others are too far below to be drawn.
    hopeful = np.argsort(-(means + 2 * deviations), kind="stable")[: HOPEFUL + players].tolist()
    tables: list[StageTable] = []
    for number in range(1, blocks + 1):
        stage = f"epoch {epoch}, top {number}"
        drawn = {
            bot: means[bot] + deviations[bot] * _normal(seed, stage, names[bot]) for bot in hopeful
        }
        seated: list[int] = []
        if pairs:
            pair = pairs[_share(seed, "pair", stage, min(PAIRS, len(pairs)))]
            seated = [*pair, *(bot for two in pairs if {*pair} & {*two} for bot in two)]
        seated += sorted(drawn, key=lambda bot: (-drawn[bot], bot))
        table = list(dict.fromkeys(seated))[:players]
        tables.append((stage, tuple(sorted(names[bot] for bot in table))))
    return tables


def _open_pairs(record: LadderRecord, numbers: Ints, best: Ints, top: int) -> list[tuple[int, int]]:
    """Neighbours among the first ``top`` of ``best``, and the last of these with each of the
    others, if their order is open; those of which least is known come first."""
    settled, lead = record.settled(), record.evidence().deviate
    first, rest = best[:top].tolist(), best[top:].tolist()
    pairs = [*pairwise(first), *product(first[-1:], rest)]
    at = {(one, other): (numbers[one], numbers[other]) for one, other in pairs}
    still = [pair for pair, here in at.items() if not settled[here] and not settled[here[::-1]]]
    return sorted(still, key=lambda pair: (float(lead[at[pair]]), pair))


def _share(seed: str, what: str, stage: str, count: int) -> int:
    """An even choice of a number below ``count``."""
    return int(draw(what, seed, stage)[:12], 16) % count


def _normal(seed: str, stage: str, name: str) -> float:
    """A standard normal deviate."""
    share = (int(draw("score", seed, stage, name)[:12], 16) + 0.5) / 16**12
    return NormalDist().inv_cdf(share)
