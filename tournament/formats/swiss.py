"""Swiss: every round seats bots of similar standing together and avoids repeated meetings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Protocol

from tournament.config import Cup
from tournament.formats.draws import shuffled
from tournament.formats.schedule import BlockMaker, Round, Schedule, Scores, Table, interleaved

_CANDIDATES = 4  # bots considered for a table beyond those it needs
_NEAR_TABLES = 3


class Swiss(Schedule):
    """`rounds` rounds of as many tables as the bots fill. The others have a bye; no bot has a
    second bye before every bot has had one."""

    def __init__(self, cup: Cup, seed: str, match_key: str) -> None:
        self._cup = cup
        self._seed = seed
        self._maker = BlockMaker(cup, seed, match_key)
        self._tables = len(cup.bots) // cup.players
        self._size = self._tables * cup.format.deals
        self.blocks = cup.format.rounds * self._size
        self.matches = self.blocks * self._maker.seatings.count()

    def rounds(self, scores: Scores) -> Iterator[Round]:
        """The rounds; each is paired by the results of those before."""
        history = _History(self._cup.names)
        for number in range(1, self._cup.format.rounds + 1):
            ranked = history.ranked(self._seed)
            tables = pair(ranked, self._cup.players, self._tables, history)
            order = {name: i for i, name in enumerate(self._cup.names)}
            seated = [tuple(sorted(table, key=order.__getitem__)) for table in tables]
            stage = f"round {number}"
            yield Round(
                number,
                self._size,
                interleaved(
                    self._maker,
                    (number - 1) * self._size,
                    number,
                    [(stage, table) for table in seated],
                    self._cup.format.deals,
                ),
            )
            history.add(scores(number))


class _History:
    """What has been played: scores, meetings and byes."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.means: dict[str, list[Fraction]] = {name: [] for name in names}
        self.met: Counter[frozenset[str]] = Counter()
        self.rounds = 0

    def add(self, scores: Mapping[tuple[str, Table], Mapping[str, Fraction]]) -> None:
        self.rounds += 1
        for (_, table), means in scores.items():
            self.met.update(frozenset(pair) for pair in combinations(table, 2))
            for name, mean in means.items():
                self.means[name].append(mean)

    def byes(self, name: str) -> int:
        return self.rounds - len(self.means[name])

    def ranked(self, seed: str) -> list[str]:
        """Best first by the mean over the rounds played; ties are broken by a draw."""
        drawn = shuffled(self.names, "swiss", seed, str(self.rounds + 1))
        return sorted(drawn, key=lambda name: -_mean(self.means[name]))


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values) if values else Fraction(0)


class Meetings(Protocol):
    """The earlier rounds, as the pairing of the next one reads them."""

    met: Counter[frozenset[str]]
    """How often two bots have met."""

    def byes(self, name: str) -> int:
        """How many byes a bot has had."""


def pair(ranked: Sequence[str], players: int, tables: int, history: Meetings) -> list[list[str]]:
    """Tables of neighbours in the ranking, best first. Pairs of bots are exchanged between tables
    as long as that reduces repeated meetings."""
    byes = len(ranked) - tables * players
    worst_first = list(reversed(ranked))
    out = set(sorted(worst_first, key=history.byes)[:byes])
    remaining = [name for name in ranked if name not in out]
    seated = []
    while remaining:
        head, near = remaining[0], remaining[1 : players + _CANDIDATES]
        rest = min(
            combinations(range(len(near)), players - 1),
            key=lambda chosen: (_repeats([head, *(near[i] for i in chosen)], history), sum(chosen)),
        )
        table = [head, *(near[i] for i in rest)]
        seated.append(table)
        remaining = [name for name in remaining if name not in table]
    # Prefer exchanges between near tables, which keep standings similar, but accept far ones.
    while any(_swap(seated, history, reach) for reach in (_NEAR_TABLES, tables)):
        pass
    return seated


def _swap(tables: list[list[str]], history: Meetings, reach: int) -> bool:
    """Exchange two bots of tables within `reach` of each other if that reduces repeats."""
    for i, upper in enumerate(tables):
        for lower in tables[i + 1 : i + 1 + reach]:
            now = _repeats(upper, history) + _repeats(lower, history)
            for a, b in product(range(len(upper)), range(len(lower))) if now else ():
                upper[a], lower[b] = lower[b], upper[a]
                if _repeats(upper, history) + _repeats(lower, history) < now:
                    return True
                upper[a], lower[b] = lower[b], upper[a]
    return False


def _repeats(table: Sequence[str], history: Meetings) -> int:
    return sum(history.met[frozenset(two)] ** 2 for two in combinations(table, 2))
