"""Playouts of Zheng Fen: every seat follows its plan, without flushes or jokers as other cards."""

from typing import Final

from bots.thinking.hand_plan import ZHENGFEN, Combo, PlannedHand, combo_of
from bots.zhengfen.strategy import POINTS, SPECIALS
from games.move import PASS, Move
from games.zhengfen.combinations import BLACK, FIVE, KING, TEN, THREE, TWO
from games.zhengfen.state import ZhengfenState

RICH: Final = 10  # high cards are worth spending on a trick with at least this many points
_510K: Final = (FIVE, TEN, KING)


def finish(state: ZhengfenState) -> ZhengfenState:
    """Play a deal, which must be the last of its game, to its end. Return the final state."""
    hands = [PlannedHand(ZHENGFEN, state.deck, cards) for cards in state.hands]
    table = None if state.table is None else combo_of(state.table.move)
    trick_points = sum(POINTS[number >> 2] for number in state.deck.numbers(state.trick))
    passing = Move(PASS, state.deck)
    while state.turn is not None:
        turn = state.turn
        hand = hands[turn]
        choice: Combo | None
        if state.table is None or table is None:
            trick_points = 0
            choice = _lead(hand)
        elif state.table.seat == turn:
            choice = None
        else:
            others = [other.size for other in hands if other.size and other is not hand]
            choice = _follow(hand, table, trick_points, min(others, default=0))
        if choice is None:
            state = state.advance(passing)
            continue
        state = state.advance(hand.take(choice))
        table = choice
        trick_points += sum(POINTS[rank] for rank in choice.ranks)
    return state


def value(end: ZhengfenState, seat: int) -> float:
    """Return the seat's points in the last deal."""
    return float(end.results[-1]["scores"][seat])


def _lead(hand: PlannedHand) -> Combo:
    # With `max` in place of the loop, compiled playouts would be a tenth slower.
    best = hand.combos[0]
    best_score = -1000.0
    for combo in hand.combos:
        score = float(len(combo.ranks) - combo.top)
        if combo.ranks == (TWO,) * 4:
            score -= 8.0
        score -= sum([POINTS[rank] for rank in combo.ranks]) / 5
        if score > best_score:
            best, best_score = combo, score
    if best.kind == "triple":
        return _full_house(hand, best.top) or best
    return _as_special(best)


def _as_special(combo: Combo) -> Combo:
    return combo._replace(kind="2222") if combo.ranks == (TWO,) * 4 else combo


def _full_house(hand: PlannedHand, top: int) -> Combo | None:
    """Return three cards of rank `top` with two extra cards, or None if no extra cards are found.

    The extra cards are a 3 and the lowest other single card, else the lowest pair, else the two
    lowest single cards with points. All must be single cards or pairs in the plan.
    """
    pairs = [combo.top for combo in hand.combos if combo.kind == "pair" and combo.top < BLACK]
    singles = [combo.top for combo in hand.combos if combo.kind == "single" and combo.top < BLACK]
    if THREE in singles and len(singles) > 1:
        extra = (THREE, singles[1])
    elif pairs:
        extra = (pairs[0], pairs[0])
    else:
        scoring = [rank for rank in singles if POINTS[rank]]
        if len(scoring) < 2:
            return None
        extra = (scoring[0], scoring[1])
    return Combo("fullhouse", top, 1, tuple(sorted((top, top, top, *extra))))


def _follow(hand: PlannedHand, table: Combo, points: int, fewest_cards: int) -> Combo | None:
    """Return the play to make, or None to pass.

    `points` is the number of points in the trick. `fewest_cards` is the size of the smallest other
    hand, ignoring empty hands.
    """
    rich = points >= RICH
    urgent = hand.size <= 6 or fewest_cards <= 4
    best = _lowest_of_kind(hand, table)
    if best is not None:
        costly = best.top > KING and len(best.ranks) < 3
        if not costly or rich or urgent:
            return _as_special(best)
        return None
    if table.kind == "single" and (rich or urgent):
        # Split a pair of high cards.
        for rank in range(max(table.top + 1, KING), BLACK):
            if hand.counts[rank]:
                return Combo("single", rank, 1, (rank,))
    if points >= RICH + 5 or (urgent and rich):
        return _special(hand, table)
    return None


def _lowest_of_kind(hand: PlannedHand, table: Combo) -> Combo | None:
    if table.kind == "fullhouse":
        tops = [combo.top for combo in hand.combos if combo.kind == "triple"]
        return next((_full_house(hand, top) for top in tops if top > table.top), None)
    best: Combo | None = None
    for combo in hand.combos:
        if combo.kind != table.kind:
            continue
        higher = (combo.top, combo.length) > (table.top, table.length)
        if higher and (best is None or combo.top < best.top):
            best = combo
    return best


def _special(hand: PlannedHand, table: Combo) -> Combo | None:
    if table.kind not in SPECIALS and all(hand.counts[rank] for rank in _510K):
        return Combo("510k", KING, 1, _510K)
    if table.kind != "2222" and hand.counts[TWO] == 4:
        return Combo("2222", TWO, 1, (TWO,) * 4)
    return None
