"""Finish a deal of Dou Dizhu or Dasan: every seat follows its plan, low plays first.

The rules are those of `games`: every move goes through `State.advance`. The players use only what
their seats would know: their own plan, the table, and how many cards each seat holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from bots.thinking.bidding import WinModel, choose_bid
from bots.thinking.hand_plan import Combo, ComboRules, Counts, combo_of, plan, without, worth
from bots.thinking.shedding import Turn, is_bomb, multiple_of
from games.dasan.state import DasanState
from games.deck import Deck
from games.doudizhu.state import DoudizhuState
from games.move import PASS, PLAY, Move

SheddingState = DoudizhuState | DasanState

URGENT_CARDS: Final = 5
"""Stop an opponent with at most this many cards, at a price."""

LEAD_PRICE, STOP_PRICE, LAST_STOP_PRICE = 1.5, 9.5, 26.5
"""How much worth to give up for the lead; to stop an opponent with few cards; one with 1 or 2."""

MAX_SPLITS: Final = 4
"""Compare at most this many plays that split the plan, lowest first."""

ENDGAME_PLAYS: Final = 6
"""With at most this many plays left, look for those that nobody can beat."""


class GameAdapter:
    """What differs between the two games; `models` are those of their strategies."""

    def __init__(self, models: Mapping[int, WinModel]) -> None:
        self.models = models

    def opponents(self, state: Any) -> list[frozenset[int]]:
        """For each seat, the seats that it plays against, as far as it knows."""
        raise NotImplementedError

    def declare(self, state: Any, counts: Counts) -> str:
        """The bid or call of the seat to move."""
        return choose_bid(self.models[state.players], counts, state.moves().texts())

    def secret_card(self, state: Any) -> int:
        """The card that reveals the teams when it is played, as a hand; 0 if there is none."""
        return 0


class PlannedHand:
    """One seat's cards: by rank, each as a hand of one card; their counts; the plan for them."""

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
        """Remove a play from the hand; return its move."""
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


def finish(game: GameAdapter, state: SheddingState) -> SheddingState:
    """Play on from `state` to the end of the game, whose last deal this must be."""
    while state.turn is not None and state.phase != "play":
        hand = PlannedHand(game.models[state.players].rules, state.deck, state.hands[state.turn])
        state = state.advance(game.declare(state, hand.counts))
    return state if state.turn is None else _finish_play(game, state)


def _finish_play(game: GameAdapter, state: SheddingState) -> SheddingState:
    rules = game.models[state.players].rules
    hands = [PlannedHand(rules, state.deck, cards) for cards in state.hands]
    opponents = game.opponents(state)
    secret = game.secret_card(state)
    table = combo_of(state.table.move) if state.table is not None else None
    owner = state.table.seat if state.table is not None else None
    cards_left = [hand.size for hand in hands]
    in_hands = [sum(counts) for counts in zip(*[hand.counts for hand in hands], strict=True)]
    passing = Move(PASS, state.deck)
    while state.turn is not None:
        seat = state.turn
        if state.table is None:
            table = None
        hand = hands[seat]
        unseen = [count - own for count, own in zip(in_hands, hand.counts, strict=True)]
        turn = Turn(rules, seat, hand.counts, unseen, cards_left, opponents[seat], table, owner)
        choice = choose(turn, hand.combos)
        if choice is None:
            state = state.advance(passing)
            continue
        move = hand.take(choice)
        state = state.advance(move)
        table, owner = choice, seat
        cards_left[seat] = hand.size
        for rank in choice.ranks:
            in_hands[rank] -= 1
        if secret & move.cards:
            opponents, secret = game.opponents(state), 0
    return state


def value(before: SheddingState, end: SheddingState, seat: int) -> float:
    """What the deal was worth to a seat: the root of its score, with the score's sign.

    The root keeps a few deals with many doublings from deciding alone.
    """
    score = end.scores[seat] - before.scores[seat]
    return math.copysign(math.sqrt(abs(score)), score)


def choose(turn: Turn, combos: list[Combo]) -> Combo | None:
    """The play to make, given the plays of the seat's plan; None to pass."""
    if turn.table is None:
        return _lead(turn, combos)
    follow = Follow(turn, turn.table, combos)
    for rule in AGAINST_OPPONENT if turn.owner in turn.opponents else OVER_TEAMMATE:
        play = rule(follow)
        if play is not None:
            return play
    return None


def _lead(turn: Turn, combos: list[Combo]) -> Combo:
    if len(combos) == 1:
        return combos[0]
    unbeatable = _unbeatable(turn, combos)
    if unbeatable and len(combos) - len(unbeatable) <= 1:
        # The one that can be beaten goes last, bombs just before it.
        return min(unbeatable, key=is_bomb)
    if len(combos) == 2 and turn.fewest_cards > 1:
        # The higher of two plays may win the lead back; the lower then goes last.
        return max(combos, key=lambda combo: combo.top if not is_bomb(combo) else 100)
    return max(combos, key=lambda combo: _lead_score(turn, combo))


def _lead_score(turn: Turn, combo: Combo) -> float:
    """Long and low plays first; nothing that an opponent may go out on."""
    size = len(combo.ranks)
    score = 0.5 * size - combo.top / combo.length
    if is_bomb(combo):
        return score - 20
    if size == turn.fewest_cards <= 2:
        return score + 2 * combo.top - 30
    if size == 1 == turn.cards_left[turn.next_seat] and turn.next_seat not in turn.opponents:
        return score + 20
    return score


def _unbeatable(turn: Turn, combos: list[Combo]) -> list[Combo]:
    """In the endgame, the plays that no opponent can beat; before it, none."""
    if len(combos) > ENDGAME_PLAYS:
        return []
    return [combo for combo in combos if not turn.may_be_beaten(combo)]


class Follow:
    """A seat that may beat the play on the table.

    `combos` are the plays of its plan, `higher` those of them that beat `table` in kind, `lowest`
    the lowest of these.
    """

    __slots__ = ("combos", "higher", "lowest", "table", "turn")

    def __init__(self, turn: Turn, table: Combo, combos: list[Combo]) -> None:
        self.turn = turn
        self.table = table
        self.combos = combos
        self.higher = [
            combo
            for combo in combos
            if combo.top > table.top
            and combo.kind == table.kind
            and combo.length == table.length
            and len(combo.ranks) == len(table.ranks)
        ]
        self.lowest: Combo | None = min(self.higher, key=_top, default=None)

    @property
    def urgent(self) -> bool:
        """Whether the deal may be lost before this seat leads again."""
        return self.turn.owner_cards <= URGENT_CARDS or len(self.combos) <= 2


def _top(combo: Combo) -> int:
    return combo.top


def go_out(follow: Follow) -> Combo | None:
    """Play the last cards."""
    return follow.lowest if len(follow.combos) == 1 else None


def overtake_cheaply(follow: Follow) -> Combo | None:
    """Put a low play in the next opponent's way, unless the teammate is close to going out."""
    turn, table, best = follow.turn, follow.table, follow.lowest
    if best is None or turn.next_seat not in turn.opponents or turn.owner_cards <= 3:
        return None
    low = table.top <= turn.rules.average_rank + 1 and best.top <= turn.rules.run_end
    return best if low and len(table.ranks) <= 2 else None


def win_by_force(follow: Follow) -> Combo | None:
    """A play that cannot be beaten, if all but one of the rest cannot be either."""
    if not follow.higher:
        return None
    unbeatable = _unbeatable(follow.turn, follow.combos)
    if len(follow.combos) - len(unbeatable) > 1:
        return None
    return next((combo for combo in follow.higher if combo in unbeatable), None)


def block_next_opponent(follow: Follow) -> Combo | None:
    """The highest play, if the next opponent could go out on a lower one."""
    turn = follow.turn
    last_cards = turn.cards_left[turn.next_seat] == len(follow.table.ranks) <= 2
    if not last_cards or turn.next_seat not in turn.opponents:
        return None
    return max(follow.higher, key=_top, default=None)


def play_lowest(follow: Follow) -> Combo | None:
    """The lowest play of the plan that beats the table."""
    return follow.lowest


def swap_kickers(follow: Follow) -> Combo | None:
    """A triple with kickers like those on the table, though the plan has other kickers for it."""
    table, counts = follow.table, follow.turn.counts
    if table.kind not in ("triple", "triple+solo", "triple+pair"):
        return None
    for top in range(table.top + 1, len(counts)):
        if counts[top] != 3:
            continue
        if table.kind == "triple":
            return Combo("triple", top, 1, (top,) * 3)
        size = 1 if table.kind == "triple+solo" else 2
        for count in (size, size + 1):
            for kicker in range(len(counts) - 2):
                if counts[kicker] == count and kicker != top:
                    ranks = tuple(sorted((top,) * 3 + (kicker,) * size))
                    return Combo(table.kind, top, 1, ranks)
    return None


def split_plan(follow: Follow) -> Combo | None:
    """The play that costs the plan least, if that is no more than the lead is worth."""
    turn = follow.turn
    price = LEAD_PRICE
    if follow.urgent:
        price = LAST_STOP_PRICE if turn.owner_cards <= 2 else STOP_PRICE

    def worth_after(play: Combo) -> float:
        return worth(turn.rules, without(turn.counts, play.ranks))

    best = max(islice(_splits(follow), MAX_SPLITS), key=worth_after, default=None)
    if best is None or worth_after(best) - worth(turn.rules, turn.counts) <= -price:
        return None
    return best


def _splits(follow: Follow) -> Iterator[Combo]:
    """The plays without kickers that beat the table and split no bomb, lowest first."""
    table, rules, counts = follow.table, follow.turn.rules, follow.turn.counts
    multiple = multiple_of(table)
    if len(table.ranks) != multiple * table.length or is_bomb(table):
        return
    end = rules.rank_count if table.length == 1 else rules.run_end
    if rules.jokers == 1 and multiple > 1:
        end = min(end, rules.rank_count - 2)
    for top in range(table.top + 1, end):
        span = range(top - table.length + 1, top + 1)
        if min(counts[rank] for rank in span) < multiple:
            continue
        if table.length == 1 and multiple < rules.bomb_size <= counts[top]:
            continue
        ranks = tuple(rank for rank in span for _ in range(multiple))
        yield Combo(table.kind, top, table.length, ranks)


def bomb_if_urgent(follow: Follow) -> Combo | None:
    """A bomb of the plan that beats the table."""
    table = follow.table
    if not follow.urgent:
        return None
    for combo in follow.combos:
        if combo.kind == "rocket":
            return combo
        if combo.kind == "bomb":
            higher = (len(combo.ranks), combo.top) > (len(table.ranks), table.top)
            if not is_bomb(table) or (table.kind == "bomb" and higher):
                return combo
    return None


OVER_TEAMMATE: Final = (go_out, overtake_cheaply)
"""The rules for beating a teammate's play, in order: the first that names a play decides."""

AGAINST_OPPONENT: Final = (
    go_out,
    win_by_force,
    block_next_opponent,
    play_lowest,
    swap_kickers,
    split_plan,
    bomb_if_urgent,
)
"""The rules for beating an opponent's play, in order: the first that names a play decides."""
