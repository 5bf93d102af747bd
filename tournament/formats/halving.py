"""Successive halving: after each stage the better half of the bots plays on, down to one table.

Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits" (ICML 2013). All
stages have about the same number of blocks, so the bots that remain play more blocks each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from tournament.formats.format import Growth, WithDeals
from tournament.formats.plan import Block, Plan, Progress, Round, Setup
from tournament.formats.scores import Scores
from tournament.formats.seeds import shuffled
from tournament.ranking.effects import fit


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of a halving, with the number of its bots and the number of times that its tables
    are drawn."""

    bots: int
    seatings: int


def stages(bots: int, players: int, deals: int) -> list[Stage]:
    """Return the stages of a halving, from the first to the last.

    After each stage, half of the bots play on, rounded up to full tables, until one table is left.
    At tables of three, for example, stages may have 30, 15, 9, 6 and 3 bots. In the first stage,
    tables are drawn `deals` times, but at least twice if the bots do not all fit at full tables. No
    later stage has fewer blocks than the first.
    """
    result = [Stage(bots, max(deals, 2) if bots % players else deals)]
    blocks = bots // players * result[0].seatings
    while bots > players:
        bots = players * -(-bots // (2 * players))
        tables = bots // players
        result.append(Stage(bots, -(-blocks // tables)))
    return result


@dataclass(frozen=True, kw_only=True)
class Halving(WithDeals):
    """A format of stages. After each stage but the last, the better half of the bots plays on."""

    type: ClassVar[str] = "halving"
    growth: ClassVar[Growth] = Growth("nothing may be added to a halving that has started")
    may_stop: ClassVar[bool] = True
    decides_places: ClassVar[bool] = True
    has_final_ranges: ClassVar[bool] = False

    def plan(self, setup: Setup) -> Plan:
        """Return the plan of a halving."""
        return _HalvingPlan(setup, self.deals)


class _HalvingPlan(Plan):
    def __init__(self, setup: Setup, deals: int) -> None:
        super().__init__(setup)
        self._stages = stages(len(setup.bots), setup.players, deals)
        self.blocks = sum(self._size(stage) for stage in self._stages)

    def rounds(self, run: Progress, scores: Scores) -> Iterator[Round]:
        bots, offset = self.setup.bots, 0
        remaining: Sequence[str] = bots
        for number, stage in enumerate(self._stages, 1):
            if number > 1:
                fitted = fit(scores.observations(bots, offset))
                score = dict(zip(bots, fitted.score.tolist(), strict=True))
                drawn = shuffled(remaining, "tie", self.setup.seed, str(number))
                remaining = sorted(drawn, key=lambda bot: -score[bot])[: stage.bots]
            yield Round(number, self._size(stage), self._play(number, remaining, stage, offset))
            offset += self._size(stage)

    def _size(self, stage: Stage) -> int:
        return stage.bots // self.setup.players * stage.seatings

    def _play(self, number: int, bots: Sequence[str], stage: Stage, offset: int) -> Iterator[Block]:
        players = self.setup.players
        name = "final" if number == len(self._stages) else f"stage {number}"
        out = len(bots) % players
        resting = shuffled(bots, "rest", self.setup.seed, name)
        for seating in range(1, stage.seatings + 1):
            at = (seating - 1) * out
            rest = {resting[(at + i) % len(bots)] for i in range(out)}
            drawn = shuffled(set(bots) - rest, "halving", self.setup.seed, name, str(seating))
            for start in range(0, len(drawn), players):
                offset += 1
                table = self._maker.in_order(drawn[start : start + players])
                yield self._maker.make(offset, number, name, table, seating)
