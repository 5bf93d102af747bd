"""Sense in the games of going out (Dou Dizhu, Dasan), on ranks alone.

A play is judged by what the hand is worth after it (see `plan`), by who owns the table, by how
near the others are to going out, and by whether the unseen cards can still beat it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bots.thinking.hand_plan import Combo, Counts, Shape, plan, worth

Ranks = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """What counts in a decision.

    `counts` is the own hand by rank, `pool` all cards unseen, by rank; `held` the number of
    cards by seat; `foes` the seats that win when the bot loses; `table` the play to beat and
    `owner` who played it, both None for a lead.
    """

    shape: Shape
    seat: int
    players: int
    counts: Counts
    pool: Counts
    held: Sequence[int]
    foes: frozenset[int]
    table: Combo | None
    owner: int | None

    @property
    def nearest_foe(self) -> int:
        """The number of cards of the foe that holds fewest."""
        return min(self.held[seat] for seat in self.foes)

    @property
    def next_seat(self) -> int:
        """Who plays after the bot."""
        return (self.seat + 1) % self.players


class Play:
    """A possible play: the move as it is sent, and its cards by rank value."""

    __slots__ = ("combo", "move")

    def __init__(self, move: str, combo: Combo) -> None:
        self.move = move
        self.combo = combo


def without(counts: Counts, ranks: Ranks) -> Counts:
    """The hand after these cards have left it."""
    left = list(counts)
    for rank in ranks:
        left[rank] -= 1
    return tuple(left)


def is_bomb(combo: Combo) -> bool:
    """Whether a play beats what is not of its kind."""
    return combo.kind in ("bomb", "rocket")


def beatable(combo: Combo, shape: Shape, pool: Sequence[int], most: int) -> bool:
    """Whether the cards of `pool` hold a higher play of the same kind, of `most` cards at most.

    Bombs are left out of account: they are rare, and cost their owner much.
    """
    if combo.kind == "rocket" or len(combo.ranks) > most:
        return False
    if combo.kind == "bomb":
        size = len(combo.ranks)
        return any(
            count > size or (count == size and rank > combo.top)
            for rank, count in enumerate(pool)
            if count >= shape.bomb
        )
    multiple = multiple_of(combo)
    if combo.length == 1:
        return max(pool[combo.top + 1 :], default=0) >= multiple
    window = 0
    for rank in range(combo.top - combo.length + 2, shape.run_end):
        window = window + 1 if pool[rank] >= multiple else 0
        if window >= combo.length:
            return True
    return False


def _open(scene: Scene, combo: Combo) -> bool:
    """Whether a foe may have something above this play."""
    return beatable(combo, scene.shape, scene.pool, max([scene.held[foe] for foe in scene.foes]))


def multiple_of(combo: Combo) -> int:
    """How many cards of a rank a play is made of, kickers aside."""
    kind = combo.kind
    if kind.startswith("quad"):
        return 4
    if kind.startswith("triple"):
        return 3
    return 2 if kind.startswith("pair") else 1


def choose(scene: Scene, plays: Sequence[Play], *, may_pass: bool) -> Play | None:
    """The play to make, None to pass. `plays` must not be empty unless `may_pass`."""
    ranked = ranking(scene, plays, may_pass=may_pass)
    return ranked[0][1]


def ranking(
    scene: Scene, plays: Sequence[Play], *, may_pass: bool
) -> list[tuple[float, Play | None]]:
    """Every play with its score, best first; None stands for passing, which scores 0."""
    judge = _follow if may_pass else _lead
    ranked: list[tuple[float, Play | None]] = [(judge(scene, play), play) for play in plays]
    if may_pass:
        ranked.insert(0, (0.0, None))
    # sort is stable: equal scores stay in the order of the list, which is low to high
    ranked.sort(key=lambda scored: -scored[0])
    return ranked


def _finishes(scene: Scene, play: Play, left: Counts) -> float | None:
    """A score above all others for a play that wins the deal, by force as far as can be seen."""
    if not any(left):
        return 1000.0
    if _open(scene, play.combo):
        return None
    combos = plan(scene.shape, left).combos
    open_ones = sum([_open(scene, combo) for combo in combos])
    if open_ones <= 1:
        return 500.0 - 20 * len(combos) - 10 * is_bomb(play.combo)
    return None


def _lead(scene: Scene, play: Play) -> float:
    combo = play.combo
    left = without(scene.counts, combo.ranks)
    final = _finishes(scene, play, left)
    if final is not None:
        return final
    score = worth(scene.shape, left) + 0.5 * len(combo.ranks)
    if is_bomb(combo):
        score -= 6
    near = scene.nearest_foe
    size = len(combo.ranks)
    if near <= 2 and _open(scene, combo):
        # A foe that may go out on this play: better something it cannot follow, else the highest.
        if size == near:
            score -= 30 - 3 * combo.top
        elif near == 2 and size == 1:
            score -= 8 - combo.top
    friend = scene.next_seat
    if friend not in scene.foes and scene.held[friend] == size and size <= 2:
        score += 16 - combo.top
    return score


def _follow(scene: Scene, play: Play) -> float:
    combo = play.combo
    left = without(scene.counts, combo.ranks)
    final = _finishes(scene, play, left)
    if final is not None:
        return final
    if scene.table is None or scene.owner is None:
        raise ValueError("a follow needs a table")
    gain = worth(scene.shape, left) - worth(scene.shape, scene.counts)
    if scene.owner not in scene.foes:
        return _over_friend(scene, combo, gain)
    owner_left = scene.held[scene.owner]
    score = gain + 1.5
    if is_bomb(combo):
        # The stake doubles as well: only from strength, or to stop somebody.
        turns = len(plan(scene.shape, left).combos)
        score += 4.0 - 2.0 * turns if turns > 2 else 4.0
    near = min(owner_left, scene.nearest_foe)
    if owner_left <= 2:
        score += 25
    elif owner_left <= 5:
        score += 8
    if near <= 2 and len(combo.ranks) == near and scene.next_seat in scene.foes:
        score += 1.5 * combo.top
    if not _open(scene, combo):
        score += 1.0
    return score


def _over_friend(scene: Scene, combo: Combo, gain: float) -> float:
    """Overtaking a friend is for cheap cards only, and only to be in the foe's way."""
    table = scene.table
    if table is None or scene.owner is None or is_bomb(combo):
        return -50.0
    foe_next = scene.next_seat in scene.foes
    if scene.held[scene.owner] <= 3 or not foe_next:
        return -20.0
    top = scene.shape.size - (4 if scene.shape.rocket else 3)
    if table.top > scene.shape.middle + 1 or combo.top > top or len(combo.ranks) > 2:
        return -20.0
    return gain - 6.0
