"""Plans for the games of going out: into which plays a hand falls, and what it is worth.

Suits play no part in Dou Dizhu and Dasan, so a hand is a tuple of counts, one for each rank from
the lowest up. Its worth is the sum over its plays of how high each is, less a fixed price for
each turn that is needed: high cards win turns back, low ones only cost them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from bots.cards import VALUE

Counts = tuple[int, ...]

TURN = 7.0
"""What a turn costs, in steps of rank."""

_NODES = 100
"""How many ways to take runs out of a hand are looked at, longest runs first; more did not make
the bots stronger."""


class Combo(NamedTuple):
    """A play without suits.

    `kind` is its category, `top` the deciding rank's value, `length` the multiples in a run
    (otherwise 1) and `ranks` every card's rank value, kickers included.
    """

    kind: str
    top: int
    length: int
    ranks: tuple[int, ...]


class Plan(NamedTuple):
    """The best way found to divide a hand."""

    worth: float
    combos: tuple[Combo, ...]


@dataclass(frozen=True, eq=False)
class Shape:
    """What a game allows, as far as plans go.

    `multiples` names the categories of one to four of a rank, `runs` those of their runs;
    `run_least` says how many ranks a run needs, for each number of a rank; `run_end` is the
    first rank value that no run may contain. `solos` and `pairs` say what a triple may carry.
    A `bomb` has at least so many cards (0: there are none). `rocket` is the number of each joker.
    """

    game: str
    multiples: tuple[str, ...]
    runs: tuple[str, ...]
    run_least: tuple[int, ...]
    run_end: int
    middle: float
    solos: bool = False
    pairs: bool = False
    bomb: int = 0
    rocket: int = 0
    size: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", len(VALUE[self.game]))

    def group(self, rank: int, count: int) -> float:
        """The worth of `count` cards of one rank, played together."""
        if self.bomb and count >= self.bomb:
            return rank * 0.75 + 4.0 * (count - self.bomb) + 3.0
        return rank - self.middle - TURN

    def run(self, top: int, multiple: int) -> float:
        """The worth of a run."""
        return (top - self.middle) / 2 + (multiple - 1) - TURN


DOUDIZHU_3 = Shape(
    "doudizhu",
    ("solo", "pair", "triple", "bomb"),
    ("run", "pair-run", "triple-run"),
    (5, 3, 2),
    12,
    7.0,
    solos=True,
    pairs=True,
    bomb=4,
    rocket=1,
)
DOUDIZHU_4 = Shape(
    "doudizhu",
    ("solo", "pair", "triple", "bomb"),
    ("run", "pair-run", "triple-run"),
    (5, 3, 2),
    12,
    7.0,
    pairs=True,
    bomb=4,
    rocket=2,
)
DASAN = Shape(
    "dasan",
    ("single", "pair", "triple", "quad"),
    ("run", "pair-run", "triple-run", "quad-run"),
    (3, 3, 3, 3),
    10,
    6.0,
)
ZHENGFEN = Shape(
    "zhengfen",
    ("single", "pair", "triple", "quad"),
    ("", "pair-run", "triple-run", "quad-run"),
    (99, 3, 3, 3),
    13,
    7.0,
)


class _Run(NamedTuple):
    multiple: int
    low: int
    length: int


@lru_cache(maxsize=200_000)
def plan(shape: Shape, counts: Counts) -> Plan:
    """Divide a hand. The best of the first ways; ties go to the way found first."""
    best_worth = float("-inf")
    best: tuple[list[_Run], list[int], list[tuple[int, ...]]] | None = None
    nodes = 0

    def look(rest: list[int], runs: list[_Run], worth: float, first: tuple[int, int]) -> None:
        nonlocal best_worth, best, nodes
        nodes += 1
        here, kickers = _rest_worth(shape, rest, runs)
        if worth + here > best_worth:
            best_worth = worth + here
            best = (list(runs), list(rest), kickers)
        for run in _runs(shape, rest, first):
            if nodes >= _NODES:
                return
            left = list(rest)
            for rank in range(run.low, run.low + run.length):
                left[rank] -= run.multiple
            runs.append(run)
            value = shape.run(run.low + run.length - 1, run.multiple)
            look(left, runs, worth + value, (run.multiple, run.low + 1))
            runs.pop()

    look(list(counts), [], 0.0, (len(shape.run_least), 0))
    if best is None:
        return Plan(0.0, ())
    return Plan(best_worth, tuple(_combos(shape, *best)))


def worth(shape: Shape, counts: Counts) -> float:
    """The worth of a hand; of an empty one far above all others."""
    return plan(shape, counts).worth if any(counts) else 100.0


def _runs(shape: Shape, rest: Sequence[int], first: tuple[int, int]) -> list[_Run]:
    """The runs that may be taken next: more of a rank first, then lower, then longer."""
    found = []
    for multiple in range(first[0], 0, -1):
        least = shape.run_least[multiple - 1]
        low = first[1] if multiple == first[0] else 0
        while low + least <= shape.run_end:
            if rest[low] < multiple:
                low += 1
                continue
            end = low
            while end < shape.run_end and rest[end] >= multiple:
                end += 1
            found += [_Run(multiple, low, n) for n in range(end - low, least - 1, -1)]
            low += 1
    return found


def _rest_worth(
    shape: Shape, rest: Sequence[int], runs: Sequence[_Run]
) -> tuple[float, list[tuple[int, ...]]]:
    """What is left when the runs are taken, and the kickers of each triple, longest run first."""
    total = 0.0
    slots = [run.length for run in runs if run.multiple == 3]
    # No kicker may be of a rank of the run's triples; none of any run's is simpler.
    tripled = {
        rank for run in runs if run.multiple == 3 for rank in range(run.low, run.low + run.length)
    }
    loose: list[int] = []
    paired: list[int] = []
    rocket = shape.rocket and rest[-1] == rest[-2] == shape.rocket
    if rocket:
        total += 13.0
    for rank in range(shape.size - 2 if rocket else shape.size):
        count = rest[rank]
        if not count:
            continue
        total += shape.group(rank, count)
        if rank in tripled and count != 3:
            continue
        if count == 1:
            loose.append(rank)
        elif count == 2:
            paired.append(rank)
        elif count == 3:
            slots.append(1)
    kickers: list[tuple[int, ...]] = []
    if not (shape.solos or shape.pairs):
        return total, kickers
    for slot in slots:
        chosen: tuple[int, ...] = ()
        gain = 0.0
        for group, allowed, times in ((loose, shape.solos, 1), (paired, shape.pairs, 2)):
            if not allowed or len(group) < slot:
                continue
            saved = -sum(shape.group(rank, times) for rank in group[:slot])
            if saved > gain:
                gain = saved
                chosen = tuple(rank for rank in group[:slot] for _ in range(times))
        total += gain
        kickers.append(chosen)
        for group in (loose, paired):
            group[:] = [rank for rank in group if rank not in chosen]
    return total, kickers


def _combos(
    shape: Shape, runs: list[_Run], rest: list[int], kickers: list[tuple[int, ...]]
) -> list[Combo]:
    left = list(rest)
    attached = iter(kickers)
    made = []

    def triple(kind: str, top: int, ranks: tuple[int, ...], length: int) -> Combo:
        extra = next(attached, ())
        for rank in extra:
            left[rank] -= 1
        if extra:
            one = "solo" if len(extra) == length else "pair"
            kind += f"+{one}" if length == 1 else f"+{one}s"
        return Combo(kind, top, length, tuple(sorted(ranks + extra)))

    for run in runs:
        span = range(run.low, run.low + run.length)
        ranks = tuple(rank for rank in span for _ in range(run.multiple))
        kind = shape.runs[run.multiple - 1]
        if run.multiple == 3:
            made.append(triple(kind, span[-1], ranks, run.length))
        else:
            made.append(Combo(kind, span[-1], run.length, ranks))
    made += [
        triple(shape.multiples[2], rank, (rank,) * 3, 1)
        for rank, count in enumerate(rest)
        if count == 3
    ]
    if shape.rocket and left[-1] == left[-2] == shape.rocket:
        jokers = (shape.size - 2, shape.size - 1)
        made.append(Combo("rocket", shape.size - 1, 1, tuple(sorted(jokers * shape.rocket))))
        left[-1] = left[-2] = 0
    for rank, count in enumerate(left):
        if count and count != 3:
            kind = shape.multiples[min(count, 4) - 1]
            length = count if kind == "bomb" else 1
            made.append(Combo(kind, rank, length, (rank,) * count))
    return made
