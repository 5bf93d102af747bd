"""Zheng Fen: a strategy, and playouts in which every seat follows its plan.

The strategy goes out early, wins tricks with points, and risks few points. A play scores the points
of the trick times the probability of winning the trick, less the points that the play itself risks,
plus the gain in the hand's worth. Playouts use neither flushes nor jokers as other cards.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import games
from bots.cards import VALUE, View, count_ranks, rank_of, unseen
from bots.thinking.hand_plan import ZHENGFEN, Combo, Counts, PlannedHand, combo_of, plan, without
from games.move import PASS, Move
from games.zhengfen.combinations import BLACK, FIVE, KING, RED, TEN, THREE, TWO
from games.zhengfen.state import ZhengfenState

_VALUE: Final = VALUE["zhengfen"]

POINTS: Final = tuple({FIVE: 5, TEN: 10, KING: 10}.get(rank, 0) for rank in range(15))
SPECIALS: Final = ("510k", "510k-suited", "2222")

POINTS_PER_STEP: Final = 2.0  # the points that correspond to one unit of a hand's worth
MAX_PLAYS: Final = 250  # to score; plays with the same category and ranks count as one
RICH: Final = 10  # high cards are worth spending on a trick with at least this many points
_510K: Final = (FIVE, TEN, KING)
_KEEP_VALUE: Final = (0, 0, 1, 1, 1, 1, 2, 3, 3, 4, 5, 7, 9, 13, 14)  # of a card, by rank


def move(view: View, moves: Sequence[str]) -> str:
    """Return the move that this strategy ranks best."""
    return rank_moves(view, moves)[0][1]


def rank_moves(view: View, moves: Sequence[str]) -> list[tuple[float, str]]:
    """Return moves as (score, move), best first. A pass scores 0.

    Of plays with the same category and ranks, only the first is listed. If more than `MAX_PLAYS`
    plays remain, those with the most valuable cards are left out.
    """
    counts = tuple(count_ranks("zhengfen", view["hand"]))
    hidden = tuple(count_ranks("zhengfen", unseen(view)))
    others = [n for seat, n in enumerate(view["counts"]) if seat != view["seat"] and n]
    trick_points = sum([POINTS[_VALUE[rank_of(card)]] for card in view["trick"]])
    own_table = view["table"] is not None and view["table"]["seat"] == view["seat"]
    step, worth_before = POINTS_PER_STEP, worth(counts)
    if view["out"]:
        step *= 1.5
    if others and min(others) <= 4:
        step *= 1.5

    def score(combo: Combo) -> float:
        left = without(counts, combo.ranks)
        if not any(left):
            return 500.0
        played = sum(POINTS[rank] for rank in combo.ranks)
        win = _win_probability(hidden, combo, len(others))
        gain = step * (worth(left) - worth_before)
        if len(combo.ranks) > 1:
            # A joker used as another card could have won a trick of its own.
            gain -= 3.0 * sum(rank >= BLACK for rank in combo.ranks)
        at_stake = trick_points + played
        if own_table:
            return gain + win * played - (1 - win) * at_stake - 1.0
        return gain + (win * at_stake - (1 - win) * played) + 1.0 * win

    scored = [(0.0, "pass")] if "pass" in moves else []
    scored += [(score(combo), text) for text, combo in _distinct_plays(view, moves)]
    # The sort is stable: equal scores stay in the order of the list.
    return sorted(scored, key=lambda entry: -entry[0])


def _distinct_plays(view: View, moves: Sequence[str]) -> list[tuple[str, Combo]]:
    position = games.get("zhengfen").view(view)
    distinct: dict[tuple[str, tuple[int, ...]], tuple[str, Combo]] = {}
    for text in moves:
        if text != "pass":
            combo = _scored_combo(position.check(text))
            distinct.setdefault((combo.kind, combo.ranks), (text, combo))
    plays = list(distinct.values())
    if len(plays) > MAX_PLAYS:
        plays.sort(key=lambda play: sum(_KEEP_VALUE[rank] - 3 for rank in play[1].ranks))
        del plays[MAX_PLAYS:]
    return plays


def _scored_combo(move: Move) -> Combo:
    """Return a play without suits, with length 1. Its rank ignores jokers used as other cards."""
    combo = combo_of(move)
    natural = Counter([rank for rank in combo.ranks if rank < BLACK])
    if len(combo.ranks) == 1 or combo.kind in SPECIALS or not natural:
        return combo._replace(length=1)
    top = max(natural, key=lambda rank: (natural[rank], rank))
    if combo.kind == "flush" or combo.kind.endswith("run"):
        top = max(natural)
    return combo._replace(top=top, length=1)


def worth(counts: Counts) -> float:
    """Return the worth of a hand, in units of one rank. An empty hand is worth 30.

    Triples are played as full houses if there are extra cards for them.
    """
    if not any(counts):
        return 30.0
    best = plan(ZHENGFEN, counts)
    total = best.worth
    pairs = [combo.top for combo in best.combos if combo.kind == "pair"]
    singles = [combo.top for combo in best.combos if combo.kind == "single"]
    for combo in best.combos:
        if combo.kind == "triple":
            total += _attach_extras(pairs, singles)
    return total


def _attach_extras(pairs: list[int], singles: list[int]) -> float:
    """Choose the best extra cards for a full house, and remove them from `pairs` or `singles`.

    Both lists hold ranks, ascending. Return the worth saved, or 0 if there are no such cards.
    """
    low = [rank for rank in singles if rank < BLACK]
    scoring = [rank for rank in low if POINTS[rank]]
    twos = [low[:2] if THREE in low else [], scoring[:2]]
    choices = [(-ZHENGFEN.group_worth(rank, 2), pairs, [rank]) for rank in pairs[:1]]
    choices += [
        (-sum(ZHENGFEN.group_worth(rank, 1) for rank in two), singles, two)
        for two in twos
        if len(two) == 2
    ]
    saved, held, extras = max(choices, key=lambda choice: choice[0], default=(0.0, [], []))
    for rank in extras:
        held.remove(rank)
    return saved


def _win_probability(unseen: Counts, combo: Combo, opponents: int) -> float:
    if combo.kind == "2222" or not opponents:
        return 1.0
    if combo.kind in SPECIALS:
        return 0.9
    jokers = unseen[BLACK] + unseen[RED]
    multiple = {"single": 1, "pair": 2, "triple": 3, "fullhouse": 3, "quad": 4}.get(combo.kind)
    if multiple is None:
        return 0.8
    if multiple == 1:
        return 0.95 / (1 + 0.3 * sum(unseen[combo.top + 1 :]))
    natural = unseen[combo.top + 1 : BLACK]
    higher = float(sum([count >= multiple for count in natural]))
    higher += sum([count == multiple - 1 for count in natural]) * jokers / 3
    return 0.95 / (1 + (0.6, 0.35, 0.2)[multiple - 2] * higher)


def finish(state: ZhengfenState) -> ZhengfenState:
    """Play a deal, which must be the last of its game, to its end. Every seat follows the plan of
    its hand, a faster strategy than that of `move`. Return the final state."""
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
