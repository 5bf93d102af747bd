"""Plans for the climbing games: how a hand divides into plays, and what the hand is worth.

A plan ignores suits: a hand is a tuple of counts, one for each rank from the lowest up. Its worth
is the sum over its plays of how high each one is, less a fixed cost for each turn it takes: a high
play wins the next lead, a low one only uses up a turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple

from bots.cards import VALUE
from games.move import Move

Counts = tuple[int, ...]

TURN_COST: Final = 7.0
"""What a turn costs, in steps of rank."""

_ROCKET_WORTH: Final = 13.0

_MAX_NODES: Final = 100
"""The search tries at most this many ways to take runs out of a hand, longest runs first. More did
not make the bots stronger."""


class Combo(NamedTuple):
    """A play without suits.

    `kind` is its category, `top` the value of the deciding rank, `length` the number of multiples
    in a run (otherwise 1), and `ranks` the rank value of every card, kickers included.
    """

    kind: str
    top: int
    length: int
    ranks: tuple[int, ...]


def combo_of(move: Move) -> Combo:
    """A play that the rules have checked, without suits."""
    ranks = tuple([number >> 2 for number in move.deck.numbers(move.cards)])
    return Combo(move.category or "", move.level, move.length or 1, ranks)


class Plan(NamedTuple):
    """The best division of a hand that the search found."""

    worth: float
    combos: tuple[Combo, ...]


@dataclass(frozen=True, eq=False)
class ComboRules:
    """The combinations of a game that plans use.

    `group_kinds` names the categories of one to four cards of a rank, `run_kinds` those of their
    runs. `min_run` is the number of ranks that a run needs, by number of cards of each rank;
    `run_end` is the first rank value that no run may contain. `solo_kickers` and `pair_kickers`
    say what a triple may carry. `bomb_size` is the least number of cards in a bomb (0: no bombs),
    `jokers` how many there are of each joker (0: no rocket).
    """

    game: str
    group_kinds: tuple[str, ...]
    run_kinds: tuple[str, ...]
    min_run: tuple[int, ...]
    run_end: int
    average_rank: float
    solo_kickers: bool = False
    pair_kickers: bool = False
    bomb_size: int = 0
    jokers: int = 0

    @property
    def rank_count(self) -> int:
        """How many ranks there are."""
        return len(VALUE[self.game])

    def group_worth(self, rank: int, count: int) -> float:
        """The worth of `count` cards of one rank, played together."""
        if self.bomb_size and count >= self.bomb_size:
            return rank * 0.75 + 4.0 * (count - self.bomb_size) + 3.0
        return rank - self.average_rank - TURN_COST

    def run_worth(self, top: int, multiple: int) -> float:
        """The worth of a run."""
        return (top - self.average_rank) / 2 + (multiple - 1) - TURN_COST

    def has_rocket(self, counts: Sequence[int]) -> bool:
        """Whether all jokers are there."""
        return bool(self.jokers) and counts[-1] == counts[-2] == self.jokers


DOUDIZHU_3: Final = ComboRules(
    "doudizhu",
    group_kinds=("solo", "pair", "triple", "bomb"),
    run_kinds=("run", "pair-run", "triple-run"),
    min_run=(5, 3, 2),
    run_end=12,
    average_rank=7.0,
    solo_kickers=True,
    pair_kickers=True,
    bomb_size=4,
    jokers=1,
)
DOUDIZHU_4: Final = replace(DOUDIZHU_3, solo_kickers=False, jokers=2)
DASAN: Final = ComboRules(
    "dasan",
    group_kinds=("single", "pair", "triple", "quad"),
    run_kinds=("run", "pair-run", "triple-run", "quad-run"),
    min_run=(3, 3, 3, 3),
    run_end=10,
    average_rank=6.0,
)
ZHENGFEN: Final = ComboRules(
    "zhengfen",
    group_kinds=("single", "pair", "triple", "quad"),
    run_kinds=("", "pair-run", "triple-run", "quad-run"),
    min_run=(99, 3, 3, 3),
    run_end=13,
    average_rank=7.0,
)


class _Run(NamedTuple):
    multiple: int
    low: int
    length: int

    @property
    def ranks(self) -> range:
        return range(self.low, self.low + self.length)


# Without the cache the search bot needs 1.5 times as long in Dou Dizhu and Dasan.
@lru_cache(maxsize=200_000)
def plan(rules: ComboRules, counts: Counts) -> Plan:
    """Divide a hand; of equally good divisions, take the first one found."""
    search = _PlanSearch(rules, list(counts))
    search.take_runs(list(counts), [], 0.0, (len(rules.min_run), 0))
    return Plan(search.worth, tuple(_combos(rules, search.runs, search.rest, search.kickers)))


class _PlanSearch:
    """The best division of a hand that was found so far: its runs, the rest, the kickers."""

    def __init__(self, rules: ComboRules, counts: list[int]) -> None:
        self.rules = rules
        self.nodes = 0
        self.worth = float("-inf")
        self.runs: list[_Run] = []
        self.rest = counts
        self.kickers: list[tuple[int, ...]] = []

    def take_runs(
        self, rest: list[int], runs: list[_Run], worth: float, first: tuple[int, int]
    ) -> None:
        """Judge a division, and those that take one more run or several out of the rest."""
        self.nodes += 1
        rules = self.rules
        rest_worth, kickers = _rest_worth(rules, rest, runs)
        if worth + rest_worth > self.worth:
            self.worth = worth + rest_worth
            self.runs, self.rest, self.kickers = list(runs), list(rest), kickers
        for run in _runs(rules, rest, first):
            if self.nodes >= _MAX_NODES:
                return
            left = list(rest)
            for rank in run.ranks:
                left[rank] -= run.multiple
            runs.append(run)
            run_worth = rules.run_worth(run.ranks[-1], run.multiple)
            self.take_runs(left, runs, worth + run_worth, (run.multiple, run.low + 1))
            runs.pop()


def worth(rules: ComboRules, counts: Counts) -> float:
    """The worth of a hand; an empty hand is worth far more than any other."""
    return plan(rules, counts).worth if any(counts) else 100.0


def without(counts: Counts, ranks: Sequence[int]) -> Counts:
    """The hand after these cards have left it."""
    left = list(counts)
    for rank in ranks:
        left[rank] -= 1
    return tuple(left)


def _runs(rules: ComboRules, rest: Sequence[int], first: tuple[int, int]) -> list[_Run]:
    """The runs that may be taken next: largest multiple first, then lowest, then longest."""
    found = []
    for multiple in range(first[0], 0, -1):
        shortest = rules.min_run[multiple - 1]
        low = first[1] if multiple == first[0] else 0
        while low + shortest <= rules.run_end:
            if rest[low] < multiple:
                low += 1
                continue
            end = low
            while end < rules.run_end and rest[end] >= multiple:
                end += 1
            found += [_Run(multiple, low, n) for n in range(end - low, shortest - 1, -1)]
            low += 1
    return found


def _rest_worth(
    rules: ComboRules, rest: Sequence[int], runs: Sequence[_Run]
) -> tuple[float, list[tuple[int, ...]]]:
    """The worth of what remains after the runs, and the kickers of each triple.

    The kickers of the runs of triples come first, then those of single triples.
    """
    total = 0.0
    if rules.has_rocket(rest):
        total = _ROCKET_WORTH
        rest = rest[:-2]
    total += sum(rules.group_worth(rank, count) for rank, count in enumerate(rest) if count)
    if not (rules.solo_kickers or rules.pair_kickers):
        return total, []
    saved, kickers = _attach_kickers(rules, rest, [run for run in runs if run.multiple == 3])
    return total + saved, kickers


def _attach_kickers(
    rules: ComboRules, rest: Sequence[int], triple_runs: Sequence[_Run]
) -> tuple[float, list[tuple[int, ...]]]:
    """Give each triple the kickers that save most; the worth saved, and the kickers."""
    lengths = [run.length for run in triple_runs] + [1] * list(rest).count(3)
    if not lengths:
        return 0.0, []
    # The rules exclude kickers of the run's own ranks; excluding those of all runs is simpler.
    excluded = {rank for run in triple_runs for rank in run.ranks}
    free = [(rank, count) for rank, count in enumerate(rest) if rank not in excluded]
    solos = [rank for rank, count in free if count == 1] if rules.solo_kickers else []
    pairs = [rank for rank, count in free if count == 2] if rules.pair_kickers else []
    total = 0.0
    kickers: list[tuple[int, ...]] = []
    for length in lengths:
        best: tuple[float, list[int], int] = (0.0, [], 0)
        for ranks, size in ((solos[:length], 1), (pairs[:length], 2)):
            saved = -sum(rules.group_worth(rank, size) for rank in ranks)
            if len(ranks) == length and saved > best[0]:
                best = (saved, ranks, size)
        saved, chosen, size = best
        total += saved
        kickers.append(tuple(rank for rank in chosen for _ in range(size)))
        solos = [rank for rank in solos if rank not in chosen]
        pairs = [rank for rank in pairs if rank not in chosen]
    return total, kickers


def _combos(
    rules: ComboRules, runs: list[_Run], rest: list[int], kickers: list[tuple[int, ...]]
) -> list[Combo]:
    """The plays of a division; `kickers` as `_rest_worth` returns them."""
    left = list(rest)
    remaining_kickers = iter(kickers)
    combos = []

    def triple(kind: str, top: int, ranks: tuple[int, ...], length: int) -> Combo:
        extra = next(remaining_kickers, ())
        for rank in extra:
            left[rank] -= 1
        if extra:
            kicker = "solo" if len(extra) == length else "pair"
            kind += f"+{kicker}" if length == 1 else f"+{kicker}s"
        return Combo(kind, top, length, tuple(sorted(ranks + extra)))

    for run in runs:
        ranks = tuple(rank for rank in run.ranks for _ in range(run.multiple))
        kind = rules.run_kinds[run.multiple - 1]
        if run.multiple == 3:
            combos.append(triple(kind, ranks[-1], ranks, run.length))
        else:
            combos.append(Combo(kind, ranks[-1], run.length, ranks))
    combos += [
        triple(rules.group_kinds[2], rank, (rank,) * 3, 1)
        for rank, count in enumerate(rest)
        if count == 3
    ]
    if rules.has_rocket(left):
        jokers = (rules.rank_count - 2, rules.rank_count - 1)
        combos.append(Combo("rocket", jokers[-1], 1, tuple(sorted(jokers * rules.jokers))))
        left[-1] = left[-2] = 0
    for rank, count in enumerate(left):
        if count and count != 3:
            kind = rules.group_kinds[min(count, 4) - 1]
            length = count if kind == "bomb" else 1
            combos.append(Combo(kind, rank, length, (rank,) * count))
    return combos
