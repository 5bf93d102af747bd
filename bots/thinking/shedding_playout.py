"""Finish a deal of Dou Dizhu or Dasan: every seat plays its plan, low plays first.

The rules are those of `games`: every move goes through `State.advance`. What the players here
see is no more than what their seats would: their own plan, the table, and who holds how many.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

from bots.thinking.hand_plan import Combo, Counts, Shape, plan, worth
from bots.thinking.shedding import beatable, is_bomb, multiple_of, without

URGENT = 5
"""With so few cards left a foe's play is to be stopped at a price."""

LEAD, STOP, STOP_AT_ALL = 1.5, 9.5, 26.5
"""What winning the lead is worth; from a foe with few cards; from one with one or two."""

BREAKS = 4
"""So many ways to break the plan are looked at, lowest first."""

LAST_PLAYS = 6
"""With so few plays left the end is looked at: which of them nobody can beat."""


class Rules(Protocol):
    """What differs between the two games."""

    def shape(self, state: Any) -> Shape:
        """The plays there are."""

    def foes(self, state: Any) -> list[frozenset[int]]:
        """For each seat, whom it plays against as far as it knows."""

    def table(self, state: Any) -> Combo | None:
        """The play to beat."""

    def declare(self, state: Any, counts: Counts) -> str:
        """A bid or a call by whose turn it is."""

    def shown(self, state: Any) -> str | None:
        """The card that tells the sides when it is played."""


class Holding:
    """One seat's cards: names by rank, counts, and the plan for them."""

    __slots__ = ("combos", "counts", "held", "names", "shape")

    def __init__(self, shape: Shape, deck: Any, hand: int) -> None:
        names: list[list[str]] = [[] for _ in range(shape.size)]
        for number in deck.numbers(hand):
            names[number >> 2].append(deck.names[number])
        self.shape = shape
        self.names = names
        self.counts: Counts = tuple([len(cards) for cards in names])
        self.held = sum(self.counts)
        self.combos = list(plan(shape, self.counts).combos)

    def take(self, combo: Combo) -> str:
        """Take a play out of the hand; its move."""
        text = "play:" + "".join([self.names[rank].pop(0) for rank in combo.ranks])
        self.counts = without(self.counts, combo.ranks)
        self.held -= len(combo.ranks)
        if combo in self.combos:
            self.combos.remove(combo)
        else:
            self.combos = list(plan(self.shape, self.counts).combos)
        return text


class Spot(NamedTuple):
    """What a seat that is to move knows: its cards, how many the others hold (`held`, by seat)
    and which they hold between them (`pool`, by rank), its foes, and the play to beat."""

    seat: Holding
    turn: int
    held: list[int]
    pool: list[int]
    foes: frozenset[int]
    table: Combo | None
    owner: int

    @property
    def after(self) -> int:
        """The next seat."""
        return (self.turn + 1) % len(self.held)

    def open(self, combo: Combo) -> bool:
        """Whether a foe may have something above this play."""
        most = max([self.held[foe] for foe in self.foes])
        return beatable(combo, self.seat.shape, self.pool, most)


def finish(rules: Rules, state: Any) -> Any:
    """The state at the end of the game, everybody playing from `state` on.

    The game should have no deal after this one.
    """
    while state.turn is not None and state.phase != "play":
        hand = state.hands[state.turn]
        state = state.advance(rules.declare(state, _counts(rules.shape(state), state, hand)))
    if state.turn is None:
        return state
    shape = rules.shape(state)
    deck = state.deck
    seats = [Holding(shape, deck, hand) for hand in state.hands]
    foes = rules.foes(state)
    shown = rules.shown(state)
    table = rules.table(state)
    owner = state.table.seat if state.table is not None else -1
    held = [seat.held for seat in seats]
    out = [sum(counts) for counts in zip(*[seat.counts for seat in seats], strict=True)]
    while state.turn is not None:
        turn = state.turn
        if state.table is None:
            table = None
        seat = seats[turn]
        pool = [count - own for count, own in zip(out, seat.counts, strict=True)]
        choice = choose(Spot(seat, turn, held, pool, foes[turn], table, owner))
        if choice is None:
            state = state.advance("pass")
            continue
        text = seat.take(choice)
        state = state.advance(text)
        table, owner = choice, turn
        held[turn] = seat.held
        for rank in choice.ranks:
            out[rank] -= 1
        if shown is not None and shown in text:
            foes, shown = rules.foes(state), None
    return state


def tempered(score: float) -> float:
    """A score's root with its sign: deals with many doublings count for more, but not all."""
    return math.copysign(math.sqrt(abs(score)), score)


def _counts(shape: Shape, state: Any, hand: int) -> Counts:
    counts = [0] * shape.size
    for number in state.deck.numbers(hand):
        counts[number >> 2] += 1
    return tuple(counts)


def choose(spot: Spot) -> Combo | None:
    """The play of the plan to make; None to pass."""
    return _lead(spot) if spot.table is None else _follow(spot, spot.table)


def _lead(spot: Spot) -> Combo:
    combos = spot.seat.combos
    if len(combos) == 1:
        return combos[0]
    if len(combos) <= LAST_PLAYS:
        safe = [combo for combo in combos if not spot.open(combo)]
        if safe and len(combos) - len(safe) <= 1:
            # All but one cannot be beaten: that one goes last, bombs just before it.
            return min(safe, key=is_bomb)
    near = min([spot.held[foe] for foe in spot.foes])
    best = combos[0]
    best_score = -1000.0
    for combo in combos:
        size = len(combo.ranks)
        score = 0.5 * size - combo.top / combo.length
        if is_bomb(combo):
            score -= 20
        elif near <= 2 and size == near:
            score += 2 * combo.top - 30
        elif size == 1 and spot.after not in spot.foes and spot.held[spot.after] == 1:
            score += 20
        if score > best_score:
            best, best_score = combo, score
    if len(combos) == 2 and near > 1:
        # Of two plays the higher first: it may come back, and the lower one then goes last.
        return max(combos, key=lambda combo: combo.top if not is_bomb(combo) else 100)
    return best


def _follow(spot: Spot, table: Combo) -> Combo | None:
    seat, held, foes = spot.seat, spot.held, spot.foes
    size = len(table.ranks)
    fitting = [
        combo
        for combo in seat.combos
        if combo.kind == table.kind
        and combo.length == table.length
        and combo.top > table.top
        and len(combo.ranks) == size
    ]
    best = min(fitting, key=_top, default=None)
    if len(seat.combos) == 1 and best is not None:
        return best
    shape = seat.shape
    if spot.owner not in foes:
        if best is None:
            return None
        low = table.top <= shape.middle + 1 and best.top <= shape.run_end
        overtake = low and spot.after in foes and held[spot.owner] > 3 and size <= 2
        return best if overtake else None
    if fitting and len(seat.combos) <= LAST_PLAYS:
        winning = _winning(spot, fitting)
        if winning is not None:
            return winning
    if fitting and spot.after in foes and held[spot.after] == size <= 2:
        return max(fitting, key=_top)
    urgent = held[spot.owner] <= URGENT or len(seat.combos) <= 2
    if best is None:
        price = STOP_AT_ALL if held[spot.owner] <= 2 else STOP if urgent else LEAD
        best = _other_kickers(seat, table) or _broken(seat, table, price)
    if best is None and urgent:
        best = _bomb(seat, table)
    return best


def _winning(spot: Spot, fitting: list[Combo]) -> Combo | None:
    """A play that cannot be beaten, when of the rest all but one cannot either."""
    safe = [combo for combo in spot.seat.combos if not spot.open(combo)]
    chosen = next((combo for combo in fitting if combo in safe), None)
    if chosen is None or len(spot.seat.combos) - len(safe) > 1:
        return None
    return chosen


def _top(combo: Combo) -> int:
    return combo.top


def _other_kickers(seat: Holding, table: Combo) -> Combo | None:
    """A triple that can carry what the table's does, though the plan has it otherwise."""
    if table.kind not in ("triple", "triple+solo", "triple+pair"):
        return None
    counts = seat.counts
    for top in range(table.top + 1, len(counts)):
        if counts[top] != 3:
            continue
        if table.kind == "triple":
            return Combo("triple", top, 1, (top,) * 3)
        times = 1 if table.kind == "triple+solo" else 2
        for want in (times, times + 1):
            for rank, count in enumerate(counts):
                if count == want and rank != top and rank < seat.shape.size - 2:
                    ranks = tuple(sorted((top,) * 3 + (rank,) * times))
                    return Combo(table.kind, top, 1, ranks)
    return None


def _broken(seat: Holding, table: Combo, price: float) -> Combo | None:
    """The play that hurts the plan least, if that is no more than `price` in worth."""
    shape = seat.shape
    multiple, length = multiple_of(table), table.length
    if len(table.ranks) != multiple * length or is_bomb(table):
        return None
    counts = seat.counts
    end = shape.size if length == 1 else shape.run_end
    if shape.rocket == 1 and multiple > 1:
        end = min(end, shape.size - 2)
    now = worth(shape, counts)
    best: Combo | None = None
    best_gain = -price
    looked = 0
    for top in range(table.top + 1, end):
        span = range(top - length + 1, top + 1)
        if min([counts[rank] for rank in span]) < multiple:
            continue
        if shape.bomb and multiple < shape.bomb <= counts[top] and length == 1:
            continue
        ranks = tuple([rank for rank in span for _ in range(multiple)])
        gain = worth(shape, without(counts, ranks)) - now
        if gain > best_gain:
            best, best_gain = Combo(table.kind, top, length, ranks), gain
        looked += 1
        if looked == BREAKS:
            break
    return best


def _bomb(seat: Holding, table: Combo) -> Combo | None:
    for combo in seat.combos:
        if combo.kind == "rocket":
            return combo
        if combo.kind == "bomb":
            over = (len(combo.ranks), combo.top) > (len(table.ranks), table.top)
            if table.kind not in ("bomb", "rocket") or (table.kind == "bomb" and over):
                return combo
    return None
