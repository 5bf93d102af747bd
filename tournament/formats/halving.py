"""Successive halving: after each stage the better half plays on, down to one table.

Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits" (ICML 2013). Every
stage has about as many blocks, so fewer bots play more blocks each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tournament.config.cup import Cup
from tournament.formats.draws import shuffled
from tournament.formats.round_scores import RoundScores
from tournament.formats.schedule import Block, Round, Schedule
from tournament.ranking.effects import fit


@dataclass(frozen=True, slots=True)
class Stage:
    """The number of bots that play a stage, and how often they are seated at tables."""

    bots: int
    seatings: int


def plan(bots: int, players: int, deals: int) -> list[Stage]:
    """The stages: half of the bots play on, rounded up to full tables; the last has one table.

    30 bots at tables of three: 30, 15, 9, 6, 3. The first stage seats all bots `deals` times, and
    at least twice if some sit out; later ones as often as makes at least as many blocks.
    """
    stages = [Stage(bots, max(deals, 2) if bots % players else deals)]
    blocks = bots // players * stages[0].seatings
    while bots > players:
        bots = players * -(-bots // (2 * players))
        tables = bots // players
        stages.append(Stage(bots, -(-blocks // tables)))
    return stages


class Halving(Schedule):
    """Each stage seats its bots at drawn tables, again and again. Bots for whom there is no table
    sit out in turn."""

    def __init__(self, cup: Cup, seed: str, match_key: str) -> None:
        super().__init__(cup, seed, match_key)
        self._stages = plan(len(cup.bots), cup.players, cup.format.deals)
        self.blocks = sum(self._size(stage) for stage in self._stages)

    def rounds(self, scores: RoundScores) -> Iterator[Round]:
        """The stages; the scores after each decide who plays the next."""
        remaining, offset = list(self._cup.names), 0
        for number, stage in enumerate(self._stages, 1):
            if number > 1:
                remaining = self._best(scores, offset, remaining, stage.bots, number)
            yield Round(number, self._size(stage), self._play(number, remaining, stage, offset))
            offset += self._size(stage)

    def _size(self, stage: Stage) -> int:
        return stage.bots // self._cup.players * stage.seatings

    def _play(self, number: int, bots: Sequence[str], stage: Stage, offset: int) -> Iterator[Block]:
        """The blocks of a stage, numbered from `offset` + 1."""
        players = self._cup.players
        name = "final" if number == len(self._stages) else f"stage {number}"
        out = len(bots) % players
        resting = shuffled(bots, "rest", self._seed, name)
        for seating in range(1, stage.seatings + 1):
            at = (seating - 1) * out
            rest = {resting[(at + i) % len(bots)] for i in range(out)}
            drawn = shuffled(set(bots) - rest, "halving", self._seed, name, str(seating))
            for start in range(0, len(drawn), players):
                offset += 1
                table = self._maker.in_order(drawn[start : start + players])
                yield self._maker.make(offset, number, name, table, seating)

    def _best(
        self, scores: RoundScores, blocks: int, bots: Sequence[str], count: int, number: int
    ) -> list[str]:
        """The bots that play on, by the score of all blocks so far; a draw decides between equal
        scores."""
        fitted = fit(scores.observations(self._cup.names, blocks))
        score = dict(zip(self._cup.names, fitted.score.tolist(), strict=True))
        drawn = shuffled(bots, "tie", self._seed, str(number))
        return sorted(drawn, key=lambda bot: -score[bot])[:count]
