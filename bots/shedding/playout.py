"""Playouts of Dou Dizhu and Dasan: every seat follows its plan, and uses only what it may know."""

import math
from collections.abc import Iterator
from itertools import islice
from typing import Final

from bots.shedding.strategy import Turn, choose_call, is_bomb, multiple_of, opponents_of
from bots.thinking.bidding import WIN_MODELS, choose_bid
from bots.thinking.hand_plan import Combo, Counts, PlannedHand, combo_of, without, worth
from games.dasan.state import DasanState
from games.doudizhu.state import DoudizhuState
from games.move import PASS, Move

SheddingState = DoudizhuState | DasanState

URGENT_CARDS: Final = 5  # an opponent with so few cards is worth stopping, even at a price
MAX_SPLITS: Final = 4  # compare only this many plays that split the plan, the lowest
ENDGAME_PLAYS: Final = 6  # with at most this many plays left, look for unbeatable plays

# How much worth to give up to win a trick, to stop an opponent with few cards, or with 1 or 2.
LEAD_PRICE, STOP_PRICE, LAST_STOP_PRICE = 1.5, 9.5, 26.5


def finish(state: SheddingState) -> SheddingState:
    """Play a deal, which must be the last of its game, to its end. Every seat follows the plan of
    its hand, a faster strategy than that of `strategy.move`. Return the final state."""
    model = WIN_MODELS[state.game.name, state.players]
    rules = model.rules
    while state.turn is not None and state.phase != "play":
        counts = PlannedHand(rules, state.deck, state.hands[state.turn]).counts
        moves = state.moves().texts()
        calls = state.phase == "call"
        state = state.advance(
            choose_call(moves, counts) if calls else choose_bid(model, counts, moves)
        )
    hands = [PlannedHand(rules, state.deck, cards) for cards in state.hands]
    secret = _secret_card(state)
    opponents = _opponents(state)
    table = combo_of(state.table.move) if state.table is not None else None
    owner = state.table.seat if state.table is not None else -1
    cards_left = [hand.size for hand in hands]
    in_hands = [sum(counts) for counts in zip(*[hand.counts for hand in hands], strict=True)]
    passing = Move(PASS, state.deck)
    while state.turn is not None:
        seat = state.turn
        if state.table is None:
            table = None
        hand = hands[seat]
        unseen = [count - held for count, held in zip(in_hands, hand.counts, strict=True)]
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
            opponents, secret = _opponents(state), 0
    return state


def _secret_card(state: SheddingState) -> int:
    """Return, as a hand, the card whose play will reveal Dasan's teams, or 0 if there is none."""
    if isinstance(state, DasanState) and state.partner is not None:
        return state.hands[state.partner] & state.called
    return 0


def _opponents(state: SheddingState) -> list[frozenset[int]]:
    partner = state.partner if isinstance(state, DasanState) else None
    known = not _secret_card(state)
    return [
        opponents_of(
            seat, state.players, state.declarer, partner if known or seat == partner else None
        )
        for seat in range(state.players)
    ]


def value(end: SheddingState, seat: int) -> float:
    """Return the square root of a seat's absolute score in the last deal, with the score's sign.

    The root keeps a few deals with many doublings from deciding everything.
    """
    score = end.results[-1]["scores"][seat]
    return math.copysign(math.sqrt(abs(score)), score)


def choose(turn: Turn, combos: list[Combo]) -> Combo | None:
    """Return the play to make, or None to pass. `combos` holds the plays of the seat's plan."""
    table = turn.table
    if table is None:
        return _lead(turn, combos)
    higher = [
        combo
        for combo in combos
        if combo.top > table.top
        and combo.kind == table.kind
        and combo.length == table.length
        and len(combo.ranks) == len(table.ranks)
    ]
    lowest = min(higher, key=lambda combo: combo.top, default=None)
    if turn.owner not in turn.opponents:
        return _over_teammate(turn, table, combos, lowest)
    urgent = turn.owner_cards <= URGENT_CARDS or len(combos) <= 2
    return (
        _win_by_force(turn, combos, higher)
        or _block_next_opponent(turn, table, higher)
        or lowest
        or _swap_kickers(turn.counts, table)
        or _split_plan(turn, table, urgent)
        or (_bomb(combos, table) if urgent else None)
    )


def _lead(turn: Turn, combos: list[Combo]) -> Combo:
    if len(combos) == 1:
        return combos[0]
    unbeatable = _unbeatable(turn, combos)
    if unbeatable and len(combos) - len(unbeatable) <= 1:
        # The play that can be beaten goes last, and bombs just before that play.
        return min(unbeatable, key=is_bomb)
    if len(combos) == 2 and turn.fewest_cards > 1:
        # The higher of two plays may win the lead back; the lower then goes last.
        return max(combos, key=lambda combo: combo.top if not is_bomb(combo) else 100)
    return max(combos, key=lambda combo: _lead_score(turn, combo))


def _lead_score(turn: Turn, combo: Combo) -> float:
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
    if len(combos) > ENDGAME_PLAYS:
        return []
    return [combo for combo in combos if not turn.may_be_beaten(combo)]


def _over_teammate(
    turn: Turn, table: Combo, combos: list[Combo], best: Combo | None
) -> Combo | None:
    if best is None or len(combos) == 1:
        return best
    if turn.next_seat not in turn.opponents or turn.owner_cards <= 3:
        return None
    low = table.top <= turn.rules.average_rank + 1 and best.top <= turn.rules.run_end
    return best if low and len(table.ranks) <= 2 else None


def _win_by_force(turn: Turn, combos: list[Combo], higher: list[Combo]) -> Combo | None:
    """Return an unbeatable play in `higher`, or None if there is none.

    `higher` holds the plays in `combos` that beat the table. Also return None if `combos` has more
    than `ENDGAME_PLAYS` plays, or at least two that can be beaten.
    """
    unbeatable = _unbeatable(turn, combos) if higher else []
    if len(combos) - len(unbeatable) > 1:
        return None
    return next((combo for combo in higher if combo in unbeatable), None)


def _block_next_opponent(turn: Turn, table: Combo, higher: list[Combo]) -> Combo | None:
    """Return the highest play in `higher` if the next seat is an opponent with only one or two
    cards, as many as the play on the table has. Otherwise, or if `higher` is empty, return None."""
    last_cards = turn.cards_left[turn.next_seat] == len(table.ranks) <= 2
    if not last_cards or turn.next_seat not in turn.opponents:
        return None
    return max(higher, key=lambda combo: combo.top, default=None)


def _swap_kickers(counts: Counts, table: Combo) -> Combo | None:
    """Return the lowest triple that beats the triple `table`, from ranks with exactly three cards.

    If `table` has a kicker, the play includes a cheap kicker of the same size. Return None if there
    is no such play, or if `table` is not a single triple.
    """
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


def _split_plan(turn: Turn, table: Combo, urgent: bool) -> Combo | None:
    """Return the play of the same kind that beats `table` at the least cost to the plan.

    Only the first `MAX_SPLITS` plays of `_splits` are compared. Return None if it yields none, as
    for a table with kickers, or if winning the trick is not worth the cost. If `urgent` is true,
    winning is worth more.
    """
    price = LEAD_PRICE
    if urgent:
        price = LAST_STOP_PRICE if turn.owner_cards <= 2 else STOP_PRICE

    def worth_after(play: Combo) -> float:
        return worth(turn.rules, without(turn.counts, play.ranks))

    best = max(islice(_splits(turn, table), MAX_SPLITS), key=worth_after, default=None)
    if best is None or worth_after(best) - worth(turn.rules, turn.counts) <= -price:
        return None
    return best


def _splits(turn: Turn, table: Combo) -> Iterator[Combo]:
    """Yield the hand's plays that are of the same kind as `table` and beat it, lowest first.

    Yield nothing if `table` is a bomb or has kickers. A play of a single rank never splits a bomb.
    """
    rules, counts = turn.rules, turn.counts
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


def _bomb(combos: list[Combo], table: Combo) -> Combo | None:
    def beats(combo: Combo) -> bool:
        if combo.kind != "bomb" or not is_bomb(table):
            return is_bomb(combo)
        higher = (len(combo.ranks), combo.top) > (len(table.ranks), table.top)
        return table.kind == "bomb" and higher

    return next((combo for combo in combos if beats(combo)), None)
