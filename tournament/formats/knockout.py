"""Knockout: the better half of each table advances, down to one final table."""

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
    """A round before the final: its number of tables, and how many bots advance from each."""

    tables: int
    advancing: tuple[int, ...]


def plan(bots: int, players: int) -> list[Cut]:
    """The rounds before the final.

    The better half of a table advances, rounded down (of five two). One table of the first round
    may let more advance, so that the final is full. The best seeds get the byes.
    """
    half = players // 2
    out = players - half
    cuts = []
    while bots > players:
        surplus = bots - players
        tables = min(bots // players, ceil(surplus / out))
        advancing = [half] * tables
        if surplus % out:
            advancing[-1] = players - surplus % out
        cuts.append(Cut(tables, tuple(advancing)))
        bots -= sum(players - count for count in advancing)
    return cuts


class Knockout(Schedule):
    """Rounds of tables; the last round is the final and the table for bronze."""

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
        """All bots, best seed first: the seeded ones, then the rest in a drawn order."""
        seeded = list(self._cup.format.seeds)
        rest = [name for name in self._cup.names if name not in seeded]
        return seeded + shuffled(rest, "seeds", self._seed)

    def rounds(self, scores: Scores) -> Iterator[Round]:
        """The rounds; each depends on the results of the one before."""
        yield from self._play(scores, [])

    def places(self, scores: Scores) -> list[str]:
        """All bots, best first, once everything is played."""
        places: list[str] = []
        for _ in self._play(scores, places):
            pass
        return places

    def _play(self, scores: Scores, places: list[str]) -> Iterator[Round]:
        remaining, offset = self.seeds(), 0
        eliminated: list[str] = []
        for number, cut in enumerate(self._cuts, 1):
            stage = "semi-final" if number == len(self._cuts) else f"round {number}"
            tables = self._tables(remaining, cut.tables)
            yield self._round(offset, number, [(stage, table) for table in tables])
            offset += len(tables) * self._cup.format.deals
            beaten = self._beaten(tables, cut, stage, scores(number))
            remaining = [name for name in remaining if name not in beaten]
            eliminated = beaten + eliminated
        number = len(self._cuts) + 1
        last = [("final", self._in_order(remaining))]
        if self._bronze:
            last.append(("bronze", self._in_order(eliminated[: self._cup.players])))
        yield self._round(offset, number, last)
        results = scores(number)
        for stage, table in last:
            places += self._ranked(results, stage, table)
        places += [name for name in eliminated if name not in places]

    def _tables(self, remaining: Sequence[str], count: int) -> list[Table]:
        """Tables of even strength: seeds are dealt in snake order; the best may have a bye."""
        tables: list[list[str]] = [[] for _ in range(count)]
        playing = remaining[len(remaining) - count * self._cup.players :]
        for index, name in enumerate(playing):
            row, column = divmod(index, count)
            tables[count - 1 - column if row % 2 else column].append(name)
        return [self._in_order(table) for table in tables]

    def _beaten(self, tables: Sequence[Table], cut: Cut, stage: str, results: Results) -> list[str]:
        """The bots that are eliminated, best first: by place at the table, then by score."""
        out = []
        for table, advancing in zip(tables, cut.advancing, strict=True):
            ranked = self._ranked(results, stage, table)
            for place, name in enumerate(ranked[advancing:], advancing):
                out.append((place, -results[stage, table][name], self._lot(stage, name), name))
        return [name for *_, name in sorted(out)]

    def _ranked(self, results: Results, stage: str, table: Table) -> list[str]:
        """The bots of a table, best first; ties are broken by a draw."""
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
