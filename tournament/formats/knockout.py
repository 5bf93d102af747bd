"""Knockout: the better half of each table advances, down to one final table."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import ClassVar

from tournament.formats.format import Growth, WithDeals
from tournament.formats.plan import Plan, Progress, Round, Setup
from tournament.formats.scores import Scores, StageTable, Table
from tournament.formats.seeds import draw, shuffled
from tournament.settings.keys import SEEDS, boolean, key

_Key = tuple[Fraction | int, ...]
"""The values that decide a place, the most important first. Lower is better."""


def cuts(bots: int, players: int) -> list[list[int]]:
    """Return how many bots advance from each table in each round before the final.

    The better half of each table advances, rounded down. More bots may advance from the last table
    of the first round, so that the final is full. Bots without a table have a bye.
    """
    half = players // 2
    eliminated = players - half
    rounds = []
    while bots > players:
        surplus = bots - players
        tables = min(bots // players, ceil(surplus / eliminated))
        advancing = [half] * tables
        if surplus % eliminated:
            advancing[-1] = players - surplus % eliminated
        rounds.append(advancing)
        bots -= tables * players - sum(advancing)
    return rounds


@dataclass(frozen=True, kw_only=True)
class Knockout(WithDeals):
    """A format of rounds in which the better half of each table advances."""

    type: ClassVar[str] = "knockout"
    growth: ClassVar[Growth] = Growth("nothing may be added to a knockout that has started")
    decides_places: ClassVar[bool] = True

    seeds: tuple[str, ...] = key((), SEEDS)
    bronze: bool = key(
        True, boolean("Whether a knockout plays for the places after the final table.")
    )

    def plan(self, setup: Setup) -> Plan:
        """Return the plan of a knockout."""
        return _KnockoutPlan(setup, self)

    def named_bots(self) -> Iterator[tuple[str, str]]:
        """Yield ("seeds", name) for each seeded bot, best seed first."""
        return (("seeds", name) for name in self.seeds)


class _KnockoutPlan(Plan):
    def __init__(self, setup: Setup, format: Knockout) -> None:
        super().__init__(setup)
        self._format = format
        self._cuts = cuts(len(setup.bots), setup.players)
        self._bronze = format.bronze and len(setup.bots) >= 2 * setup.players
        tables = sum(map(len, self._cuts)) + 1 + self._bronze
        self.blocks = tables * format.deals

    def rounds(self, run: Progress, scores: Scores) -> Iterator[Round]:
        yield from self._play(scores, {})

    def places(self, run: Progress, scores: Scores) -> dict[str, int]:
        """Return the place of every bot (see `Plan.places` and docs/cup-reference.md)."""
        places: dict[str, int] = {}
        for _ in self._play(scores, places):
            pass
        return places

    def _play(self, scores: Scores, places: dict[str, int]) -> Iterator[Round]:
        """Yield the rounds, as in `Plan.rounds`. When asked for another round after the last one,
        add the place of every bot to `places`, best first."""
        seeds, offset, deals = self._format.seeds, 0, self._format.deals
        unseeded = [name for name in self.setup.bots if name not in seeds]
        remaining = [*seeds, *shuffled(unseeded, "seeds", self.setup.seed)]
        eliminated: list[tuple[_Key, str]] = []  # best first
        means: dict[str, list[Fraction]] = defaultdict(list)  # by bot, one for each round
        for number, cut in enumerate(self._cuts, 1):
            stage = "semi-final" if number == len(self._cuts) else f"round {number}"
            tables = self._tables(remaining, len(cut))
            yield self._round(number, offset, [(stage, table) for table in tables], deals)
            offset += len(tables) * deals
            keys = _keys(means, scores(number))
            beaten = self._beaten(tables, cut, stage, keys)
            losers = {name for _, name in beaten}
            remaining = [name for name in remaining if name not in losers]
            eliminated = [((-number, *key), name) for key, name in beaten] + eliminated
        number = len(self._cuts) + 1
        last = [("final", self._maker.in_order(remaining))]
        if self._bronze:
            best = [name for _, name in eliminated[: self.setup.players]]
            last.append(("bronze", self._maker.in_order(best)))
        yield self._round(number, offset, last, deals)
        keys = _keys(means, scores(number))
        for _, table in last:
            _award(places, sorted((keys[name], name) for name in table))
        _award(places, [(key, name) for key, name in eliminated if name not in places])

    def _tables(self, remaining: Sequence[str], count: int) -> list[Table]:
        """Return `count` tables at which the worst seeds sit in snake order. `remaining` must be
        sorted by seed, best first. The best seeds have a bye if there are too few tables."""
        tables: list[list[str]] = [[] for _ in range(count)]
        playing = remaining[len(remaining) - count * self.setup.players :]
        for index, name in enumerate(playing):
            row, column = divmod(index, count)
            tables[count - 1 - column if row % 2 else column].append(name)
        return [self._maker.in_order(table) for table in tables]

    def _beaten(
        self, tables: Sequence[Table], cut: Sequence[int], stage: str, keys: Mapping[str, _Key]
    ) -> list[tuple[_Key, str]]:
        """Return (key, bot) for each bot that is eliminated in the round `stage`, best first.

        The key is the rank of the bot at its table, from 0, and then its values in `keys`. `cut`
        has the number of bots that advance from each of `tables`. Ties are decided by lot.
        """
        beaten = []
        for table, advancing in zip(tables, cut, strict=True):
            ranked = sorted(table, key=lambda name: (keys[name], self._lot(stage, name)))
            for name in ranked[advancing:]:
                rank = sum(keys[other] < keys[name] for other in table)
                beaten.append(((Fraction(rank), *keys[name]), name))
        return sorted(beaten, key=lambda item: (item[0], self._lot(stage, item[1])))

    def _lot(self, stage: str, name: str) -> str:
        return draw("tie", self.setup.seed, stage, name)


def _keys(
    means: dict[str, list[Fraction]], results: Mapping[StageTable, Mapping[str, Fraction]]
) -> dict[str, _Key]:
    """Append the mean score of each bot in `results`, the results of a round, to its list in
    `means`. Return the key of each bot in `means`, by which places are decided."""
    for table in results.values():
        for name, mean in table.items():
            means[name].append(mean)
    return {
        name: (-by_table[-1], -sum(by_table, Fraction(0)) / len(by_table))
        for name, by_table in means.items()
    }


def _award(places: dict[str, int], ranked: Sequence[tuple[_Key, str]]) -> None:
    """Add the bots in `ranked`, which must be best first, to `places`, after the bots that already
    have a place. Bots with equal keys share a place."""
    before = len(places)
    keys = [place_key for place_key, _ in ranked]
    for place_key, name in ranked:
        places[name] = before + 1 + keys.index(place_key)
