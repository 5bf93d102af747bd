"""Knockout: tables, of which the better half goes on, down to one final table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from tournament.config import Cup
from tournament.formats.draws import draw, shuffled
from tournament.formats.schedule import BlockMaker, Round, Schedule, Scores, Table, interleaved

Results = Mapping[tuple[str, Table], Mapping[str, Fraction]]


@dataclass(frozen=True, slots=True)
class Cut:
    """A round before the final: its tables, and how many go on from each."""

    tables: int
    goes_on: tuple[int, ...]


def plan(bots: int, players: int) -> list[Cut]:
    """The rounds before the final.

    The better half of a table goes on (of three one, of five two). So that the final is full,
    one table of the first round may let more go on. Who has no table in a round goes on
    without playing: the best seeds.
    """
    half = players // 2
    gone = players - half
    cuts = []
    while bots > players:
        surplus = bots - players
        tables = min(bots // players, ceil(surplus / gone))
        goes_on = [half] * tables
        if surplus % gone:
            goes_on[-1] = players - surplus % gone
        cuts.append(Cut(tables, tuple(goes_on)))
        bots -= sum(players - count for count in goes_on)
    return cuts


class Knockout(Schedule):
    """Rounds of tables; the last round is the final, with a table for the bronze beside it."""

    def __init__(self, cup: Cup, seed: str) -> None:
        self._cup = cup
        self._seed = seed
        self._maker = BlockMaker(seed, cup.format.seating, cup.players)
        self._cuts = plan(len(cup.bots), cup.players)
        self._bronze = cup.format.bronze and len(cup.bots) >= 2 * cup.players
        tables = sum(cut.tables for cut in self._cuts) + 1 + self._bronze
        self.blocks = tables * cup.format.deals
        self.matches = self.blocks * self._maker.seatings.count()
        self._order = {name: i for i, name in enumerate(cup.names)}

    def seeds(self) -> list[str]:
        """All bots, best seed first: those that are seeded, then the rest as drawn."""
        seeded = list(self._cup.format.seeds)
        rest = [name for name in self._cup.names if name not in seeded]
        return seeded + shuffled(rest, "seeds", self._seed)

    def rounds(self, scores: Scores) -> Iterator[Round]:
        """The rounds, each from the results of the one before."""
        yield from self._play(scores, [])

    def places(self, scores: Scores) -> list[str]:
        """All bots in the order in which they ended, once everything is played."""
        ended: list[str] = []
        for _ in self._play(scores, ended):
            pass
        return ended

    def _play(self, scores: Scores, ended: list[str]) -> Iterator[Round]:
        left, offset = self.seeds(), 0
        gone: list[str] = []
        for number, cut in enumerate(self._cuts, 1):
            stage = "semi-final" if number == len(self._cuts) else f"round {number}"
            tables = self._tables(left, cut.tables)
            yield self._round(offset, number, [(stage, table) for table in tables])
            offset += len(tables) * self._cup.format.deals
            beaten = self._beaten(tables, cut, stage, scores(number))
            left = [name for name in left if name not in beaten]
            gone = beaten + gone
        number = len(self._cuts) + 1
        last = [("final", self._in_order(left))]
        if self._bronze:
            last.append(("bronze", self._in_order(gone[: self._cup.players])))
        yield self._round(offset, number, last)
        results = scores(number)
        for stage, table in last:
            ended += self._ranked(results, stage, table)
        ended += [name for name in gone if name not in ended]

    def _tables(self, left: Sequence[str], many: int) -> list[Table]:
        """Tables of even strength: seeds are dealt there and back; the best ones may rest."""
        dealt: list[list[str]] = [[] for _ in range(many)]
        playing = left[len(left) - many * self._cup.players :]
        for index, name in enumerate(playing):
            row, place = divmod(index, many)
            dealt[many - 1 - place if row % 2 else place].append(name)
        return [self._in_order(table) for table in dealt]

    def _beaten(self, tables: Sequence[Table], cut: Cut, stage: str, results: Results) -> list[str]:
        """Who does not go on, best first: by place at the table, then by score."""
        out = []
        for table, goes_on in zip(tables, cut.goes_on, strict=True):
            ranked = self._ranked(results, stage, table)
            for place, name in enumerate(ranked[goes_on:], goes_on):
                out.append((place, -results[stage, table][name], self._lot(stage, name), name))
        return [name for *_, name in sorted(out)]

    def _ranked(self, results: Results, stage: str, table: Table) -> list[str]:
        """A table's bots, best first; equal scores by draw."""
        means = results[stage, table]
        return sorted(table, key=lambda name: (-means[name], self._lot(stage, name)))

    def _lot(self, stage: str, name: str) -> str:
        return draw("tie", self._seed, stage, name)

    def _in_order(self, names: Sequence[str]) -> Table:
        return tuple(sorted(names, key=self._order.__getitem__))

    def _round(self, offset: int, number: int, tables: Sequence[tuple[str, Table]]) -> Round:
        deals = self._cup.format.deals
        blocks = interleaved(self._maker, offset, number, tables, deals)
        return Round(number, len(tables) * deals, blocks)
