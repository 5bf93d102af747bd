"""Plans for the climbing games: the division of a hand into plays, and the worth of the hand.

A plan ignores suits: a hand is a tuple of counts, one for each rank from the lowest up. The worth
of a hand is the sum of the ranks of its plays, less a fixed cost for each turn.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from bots.cards import VALUE
from games.deck import Deck
from games.move import PLAY, Move

Counts = tuple[int, ...]

TURN_COST: Final = 7.0  # in units of one rank
_ROCKET_WORTH: Final = 13.0
_MAX_DIVISIONS: Final = 100  # the divisions compared for a plan; more made no bot stronger


class Combo(NamedTuple):
    """A play without suits."""

    kind: str  # the category
    top: int  # the deciding rank
    length: int  # the ranks in a run, the cards in a bomb or flush, and otherwise 1
    ranks: tuple[int, ...]  # of every card, including kickers, ascending


def combo_of(move: Move) -> Combo:
    """Return a play without its suits. The rules must have set the move's category."""
    ranks = tuple([number >> 2 for number in move.deck.numbers(move.cards)])
    return Combo(move.category or "", move.level, move.length or 1, ranks)


class HandPlan(NamedTuple):
    """The best division of a hand that the search found, with the worth of the hand."""

    worth: float
    combos: tuple[Combo, ...]


@dataclass(frozen=True, eq=False)
class ComboRules:
    """The combinations of a game that a plan may use."""

    game: str
    group_kinds: tuple[str, ...]  # the categories of one to four cards of a rank
    run_kinds: tuple[str, ...]  # the categories of runs of these groups
    min_run: tuple[int, ...]  # the smallest number of ranks in each of these runs
    run_end: int  # the first rank that no run may contain
    average_rank: float  # the rank that counts as 0 in the worth of a play
    solo_kickers: bool = False  # whether a triple may carry single cards
    pair_kickers: bool = False  # whether a triple may carry pairs
    bomb_size: int = 0  # the smallest number of cards in a bomb, or 0 without bombs
    jokers: int = 0  # the number of copies of each joker, or 0 without a rocket

    @property
    def rank_count(self) -> int:
        """The number of ranks in the game."""
        return len(VALUE[self.game])

    def group_worth(self, rank: int, count: int) -> float:
        """Return the worth of `count` cards of one rank, played together."""
        if self.bomb_size and count >= self.bomb_size:
            return rank * 0.75 + 4.0 * (count - self.bomb_size) + 3.0
        return rank - self.average_rank - TURN_COST

    def run_worth(self, top: int, multiple: int) -> float:
        """Return the worth of a run up to rank `top` with `multiple` cards of each rank."""
        return (top - self.average_rank) / 2 + (multiple - 1) - TURN_COST

    def has_rocket(self, counts: Sequence[int]) -> bool:
        """Return whether a hand with these counts by rank has a rocket, which is all jokers."""
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


class _RunOfRanks(NamedTuple):
    multiple: int
    low: int
    length: int

    @property
    def ranks(self) -> range:
        return range(self.low, self.low + self.length)


# Without the cache the search bot needs 1.5 times as long in Dou Dizhu and Dasan.
@lru_cache(maxsize=200_000)
def plan(rules: ComboRules, counts: Counts) -> HandPlan:
    """Return the best of the first `_MAX_DIVISIONS` divisions of a hand into plays. Plays of the
    same kind are in ascending order of their lowest rank, not counting kickers."""
    highest = float("-inf")
    combos: Iterable[Combo] = ()
    divisions = _divisions(rules, list(counts), [], (len(rules.min_run), 0))
    for rest, runs in islice(divisions, _MAX_DIVISIONS):
        worth = sum(rules.run_worth(run.ranks[-1], run.multiple) for run in runs)
        worth += _rest_worth(rules, rest, runs)
        if worth > highest:
            highest, combos = worth, _combos(rules, rest, runs)
    return HandPlan(highest, tuple(combos))


def _divisions(
    rules: ComboRules, rest: list[int], runs: list[_RunOfRanks], first: tuple[int, int]
) -> Iterator[tuple[list[int], list[_RunOfRanks]]]:
    """Yield the division (rest, runs), then all divisions that take further runs out of `rest`.

    `rest` counts the cards outside runs, by rank. `first` is as in `_runs`.
    """
    yield rest, runs
    for run in _runs(rules, rest, first):
        left = list(rest)
        for rank in run.ranks:
            left[rank] -= run.multiple
        yield from _divisions(rules, left, [*runs, run], (run.multiple, run.low + 1))


def worth(rules: ComboRules, counts: Counts) -> float:
    """Return the worth of a hand, in units of one rank. An empty hand is worth 100."""
    return plan(rules, counts).worth if any(counts) else 100.0


def without(counts: Counts, ranks: Sequence[int]) -> Counts:
    """Return a hand without one card for each item of `ranks`. The hand must have these cards."""
    left = list(counts)
    for rank in ranks:
        left[rank] -= 1
    return tuple(left)


def _runs(rules: ComboRules, rest: Sequence[int], first: tuple[int, int]) -> list[_RunOfRanks]:
    """Return the runs in `rest`: highest multiple first, then lowest rank first, longest first.

    `first` is (multiple, lowest rank). Runs that would be sorted before it are left out.
    """
    runs = []
    for multiple in range(first[0], 0, -1):
        shortest = rules.min_run[multiple - 1]
        lowest = first[1] if multiple == first[0] else 0
        for low in range(lowest, rules.run_end - shortest + 1):
            if rest[low] < multiple:
                continue
            end = low
            while end < rules.run_end and rest[end] >= multiple:
                end += 1
            runs += [_RunOfRanks(multiple, low, n) for n in range(end - low, shortest - 1, -1)]
    return runs


def _rest_worth(rules: ComboRules, rest: list[int], runs: list[_RunOfRanks]) -> float:
    total = 0.0
    if rules.has_rocket(rest):
        total = _ROCKET_WORTH
        rest = rest[:-2]
    total += sum(rules.group_worth(rank, count) for rank, count in enumerate(rest) if count)
    return total + _attach_kickers(rules, rest, runs)[0]


def _attach_kickers(
    rules: ComboRules, rest: list[int], runs: list[_RunOfRanks]
) -> tuple[float, list[tuple[int, ...]]]:
    """Return the worth saved by kickers, and a list with the ranks of each triple's kickers.

    The ranks have an item for each card, and are () for a triple without kickers. A run of triples
    counts as one triple, and comes before single triples. The list is empty if the rules allow no
    kickers. `rest` counts the cards outside `runs` by rank, and must have no rocket.
    """
    if not (rules.solo_kickers or rules.pair_kickers):
        return 0.0, []
    triple_runs = [run for run in runs if run.multiple == 3]
    lengths = [run.length for run in triple_runs] + [1] * rest.count(3)
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


def _combos(rules: ComboRules, rest: list[int], runs: list[_RunOfRanks]) -> Iterator[Combo]:
    left = list(rest)
    has_rocket = rules.has_rocket(left)
    if has_rocket:
        left[-2:] = [0, 0]
    kickers = iter(_attach_kickers(rules, left, runs)[1])
    triples = [_RunOfRanks(3, rank, 1) for rank, count in enumerate(left) if count == 3]
    for run in (*runs, *triples):
        kinds = rules.run_kinds if run.length > 1 else rules.group_kinds
        kind = kinds[run.multiple - 1]
        extra = next(kickers, ()) if run.multiple == 3 else ()
        if extra:
            kicker = "solo" if len(extra) == run.length else "pair"
            kind += f"+{kicker}s" if run.length > 1 else f"+{kicker}"
        for rank in extra:
            left[rank] -= 1
        ranks = sorted([*run.ranks] * run.multiple + [*extra])
        yield Combo(kind, run.ranks[-1], run.length, tuple(ranks))
    if has_rocket:
        jokers = (rules.rank_count - 2, rules.rank_count - 1)
        yield Combo("rocket", jokers[-1], 1, tuple(sorted(jokers * rules.jokers)))
    for rank, count in enumerate(left):
        if count and count != 3:
            kind = rules.group_kinds[min(count, 4) - 1]
            length = count if kind == "bomb" else 1
            yield Combo(kind, rank, length, (rank,) * count)


class PlannedHand:
    """A seat's hand with its plan. `cards` lists the cards of each rank, each card as a hand."""

    __slots__ = ("cards", "combos", "counts", "deck", "rules", "size")

    def __init__(self, rules: ComboRules, deck: Deck, hand: int) -> None:
        cards: list[list[int]] = [[] for _ in range(rules.rank_count)]
        for number in deck.numbers(hand):
            cards[number >> 2].append(deck.units[number])
        self.rules = rules
        self.deck = deck
        self.cards = cards
        self.counts: Counts = tuple([len(held) for held in cards])
        self.size = sum(self.counts)
        self.combos = list(plan(rules, self.counts).combos)

    def take(self, combo: Combo) -> Move:
        """Remove a play from the hand, lowest suits first. Return it as a move without a category.

        If the play is not in the plan, the hand is planned anew.
        """
        cards = 0
        for rank in combo.ranks:
            cards += self.cards[rank].pop(0)
        move = Move(PLAY, self.deck, cards)
        self.counts = without(self.counts, combo.ranks)
        self.size -= len(combo.ranks)
        if combo in self.combos:
            self.combos.remove(combo)
        else:
            self.combos = list(plan(self.rules, self.counts).combos)
        return move
