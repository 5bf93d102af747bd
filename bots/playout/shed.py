"""Finish a deal of Dou Dizhu or Dasan: every seat plays its plan, low plays first.

The rules are those of `games`: every move goes through `State.advance`. What the players here
see is no more than what their seats would: their own plan, the table, and who holds how many.
"""

from __future__ import annotations

from typing import Any, Protocol

from bots.strategy.plan import Combo, Counts, Shape, plan
from bots.strategy.shed import is_bomb, without

URGENT = 5
"""With so few cards left a foe's play is to be stopped at a price."""


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
    players = state.players
    while state.turn is not None:
        turn = state.turn
        held = [seat.held for seat in seats]
        if state.table is None:
            choice: Combo | None = _lead(seats[turn], held, foes[turn], (turn + 1) % players)
        elif table is not None:
            choice = _follow(seats[turn], table, owner, held, foes[turn], turn)
        if choice is None:
            state = state.advance("pass")
            continue
        text = seats[turn].take(choice)
        state = state.advance(text)
        table, owner = choice, turn
        if shown is not None and shown in text:
            foes, shown = rules.foes(state), None
    return state


def _counts(shape: Shape, state: Any, hand: int) -> Counts:
    counts = [0] * shape.size
    for number in state.deck.numbers(hand):
        counts[number >> 2] += 1
    return tuple(counts)


def _lead(seat: Holding, held: list[int], foes: frozenset[int], after: int) -> Combo:
    combos = seat.combos
    if len(combos) == 1:
        return combos[0]
    near = min([held[foe] for foe in foes])
    best = combos[0]
    best_score = -1000.0
    for combo in combos:
        size = len(combo.ranks)
        score = 0.5 * size - combo.top / combo.length
        if is_bomb(combo):
            score -= 20
        elif near <= 2 and size == near:
            score += 2 * combo.top - 30
        elif size == 1 and after not in foes and held[after] == 1:
            score += 20
        if score > best_score:
            best, best_score = combo, score
    if len(combos) == 2 and near > 1:
        # Of two plays the higher first: it may come back, and the lower one then goes last.
        return max(combos, key=lambda combo: combo.top if not is_bomb(combo) else 100)
    return best


def _follow(
    seat: Holding, table: Combo, owner: int, held: list[int], foes: frozenset[int], turn: int
) -> Combo | None:
    size = len(table.ranks)
    best: Combo | None = None
    for combo in seat.combos:
        if (
            combo.kind == table.kind
            and combo.length == table.length
            and combo.top > table.top
            and len(combo.ranks) == size
            and (best is None or combo.top < best.top)
        ):
            best = combo
    shape = seat.shape
    if owner not in foes:
        if best is None or len(seat.combos) == 1:
            return best
        after = (turn + 1) % len(held)
        low = table.top <= shape.middle + 1 and best.top <= shape.run_end
        return best if low and after in foes and held[owner] > 3 and size <= 2 else None
    urgent = held[owner] <= URGENT or len(seat.combos) <= 2
    if best is None:
        best = _other_kickers(seat, table) or _broken(seat, table, urgent)
    if best is None and urgent:
        best = _bomb(seat, table)
    return best


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


def _broken(seat: Holding, table: Combo, urgent: bool) -> Combo | None:
    """One or two high cards out of a larger group; low ones and runs only when it matters."""
    multiple = len(table.ranks)
    if table.length != 1 or multiple > 2:
        return None
    shape = seat.shape
    lowest = table.top + 1 if urgent else max(table.top + 1, shape.run_end - 1)
    bomb = shape.bomb or 4
    for rank in range(lowest, shape.size):
        count = seat.counts[rank]
        if multiple <= count < bomb and not (multiple == 2 and shape.rocket == 1 and rank > 12):
            return Combo(table.kind, rank, 1, (rank,) * multiple)
    return None


def _bomb(seat: Holding, table: Combo) -> Combo | None:
    for combo in seat.combos:
        if combo.kind == "rocket":
            return combo
        if combo.kind == "bomb":
            over = (len(combo.ranks), combo.top) > (len(table.ranks), table.top)
            if table.kind not in ("bomb", "rocket") or (table.kind == "bomb" and over):
                return combo
    return None
