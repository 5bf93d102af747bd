"""Swiss: each round seats bots with similar results together and avoids repeated meetings."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import ClassVar

from tournament.formats.format import Growth, WithDeals
from tournament.formats.plan import Plan, Progress, Round, Setup
from tournament.formats.scores import Scores
from tournament.formats.seeds import shuffled
from tournament.settings import keys

_CANDIDATES = 4  # bots considered for a table beyond those it needs
_NEAR_TABLES = 3


@dataclass(frozen=True, kw_only=True)
class Swiss(WithDeals):
    """A format of rounds in which bots with similar results meet. The bots that do not fill a table
    have a bye, and no bot has a second bye before every bot has had one."""

    type: ClassVar[str] = "swiss"
    growth: ClassVar[Growth] = Growth("in a swiss only rounds may be added", "rounds")
    has_final_ranges: ClassVar[bool] = False

    rounds: int = keys.key(5, keys.number(1, 1000, "Rounds of a swiss."))

    def plan(self, setup: Setup) -> Plan:
        """Return the plan of a Swiss cup."""
        return _SwissPlan(setup, self)


class _SwissPlan(Plan):
    def __init__(self, setup: Setup, format: Swiss) -> None:
        super().__init__(setup)
        self._format = format
        self._tables = len(setup.bots) // setup.players
        self._size = self._tables * format.deals
        self.blocks = format.rounds * self._size

    def rounds(self, run: Progress, scores: Scores) -> Iterator[Round]:
        names, deals = self.setup.bots, self._format.deals
        total = dict.fromkeys(names, Fraction(0))
        met: Counter[frozenset[str]] = Counter()
        byes: Counter[str] = Counter()
        for number in range(1, self._format.rounds + 1):
            mean = {name: total[name] / max(1, number - 1 - byes[name]) for name in names}
            drawn = shuffled(names, "swiss", self.setup.seed, str(number))  # decides between equals
            ranked = sorted(drawn, key=lambda name: -mean[name])
            tables = pair(ranked, self.setup.players, self._tables, met, byes)
            seated = [(f"round {number}", self._maker.in_order(table)) for table in tables]
            yield self._round(number, (number - 1) * self._size, seated, deals)
            byes.update(set(names).difference(*tables))
            for (_, table), means in scores(number).items():
                met.update(frozenset(two) for two in combinations(table, 2))
                for name, points in means.items():
                    total[name] += points


def pair(
    ranked: Sequence[str],
    players: int,
    tables: int,
    met: Counter[frozenset[str]],
    byes: Counter[str],
) -> list[list[str]]:
    """Return the tables of a round, which seat neighbours in `ranked` but avoid repeated meetings.

    `ranked` has the bots, best first, and must have enough bots for `tables` tables. `met` counts
    the meetings of each pair, and `byes` the byes of each bot. If there are more bots, those
    with the fewest byes get a bye, and among equals the worst.
    """
    worst_first = ranked[::-1]
    resting = sorted(worst_first, key=byes.__getitem__)[: len(ranked) - tables * players]
    remaining = [name for name in ranked if name not in resting]
    seated = []
    while remaining:
        head, near = remaining[0], remaining[1 : players + _CANDIDATES]
        rest = min(
            combinations(range(len(near)), players - 1),
            key=lambda chosen: (_repeats([head, *(near[i] for i in chosen)], met), sum(chosen)),
        )
        table = [head, *(near[i] for i in rest)]
        seated.append(table)
        remaining = [name for name in remaining if name not in table]
    # Prefer exchanges between nearby tables, which keep standings similar, but accept far ones.
    while any(_swap(seated, met, reach) for reach in (_NEAR_TABLES, tables)):
        pass
    return seated


def _swap(tables: list[list[str]], met: Counter[frozenset[str]], reach: int) -> bool:
    """Exchange two bots of nearby tables, in place, if an exchange reduces repeated meetings.
    Return whether bots were exchanged. Nearby tables are at most `reach` apart in `tables`."""
    for i, upper in enumerate(tables):
        for lower in tables[i + 1 : i + 1 + reach]:
            now = _repeats(upper, met) + _repeats(lower, met)
            for a, b in product(range(len(upper)), range(len(lower))) if now else ():
                upper[a], lower[b] = lower[b], upper[a]
                if _repeats(upper, met) + _repeats(lower, met) < now:
                    return True
                upper[a], lower[b] = lower[b], upper[a]
    return False


def _repeats(table: Sequence[str], met: Counter[frozenset[str]]) -> int:
    return sum(met[frozenset(two)] ** 2 for two in combinations(table, 2))
