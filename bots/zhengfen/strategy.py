"""Sense in Zheng Fen: go out early, win the tricks that hold fives, tens and kings, and let no
points go with cards that will be beaten.

A play is judged in points: what the trick is worth times the chance to win it, less what the play
itself would lose, plus what it does for the hand (see `plan`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bots.cards import VALUE, cards_of, count_ranks, rank_of, unseen
from bots.thinking.hand_plan import ZHENGFEN, Combo, Counts, plan

View = Mapping[str, Any]
_VALUE = VALUE["zhengfen"]

THREE, FIVE, TEN, KING, TWO = 0, 2, 7, 10, 12
BLACK, RED = 13, 14
POINTS = tuple([{FIVE: 5, TEN: 10, KING: 10}.get(rank, 0) for rank in range(15)])
SPECIALS = ("510k", "510k-suited", "2222")

STEP = 2.0
"""Points that a step of worth is good for."""

MOST = 250
"""So many plays, different in rank, are judged closely."""

_KEEP = (0, 0, 1, 1, 1, 1, 2, 3, 3, 4, 5, 7, 9, 13, 14)
"""What a card of each rank is roughly worth keeping."""


def move(view: View, moves: Sequence[str]) -> str:
    """The sensible move."""
    return rank_moves(view, moves)[0][1]


@dataclass(frozen=True, slots=True)
class _Scene:
    counts: Counts
    pool: Counts
    others: int
    table: str | None
    mine: bool
    trick: int
    step: float
    worth: float


def rank_moves(view: View, moves: Sequence[str]) -> list[tuple[float, str]]:
    """The moves with their scores, best first; passing scores 0."""
    scene = _scene(view)
    scored = []
    if "pass" in moves:
        scored.append((0.0, "pass"))
    for text, combo in _different(moves, scene):
        scored.append((_judge(scene, combo), text))
    # sort is stable: equal scores stay in the order of the list
    return sorted(scored, key=lambda entry: -entry[0])


def _scene(view: View) -> _Scene:
    counts = tuple(count_ranks("zhengfen", view["hand"]))
    table = view["table"]
    others = [n for seat, n in enumerate(view["counts"]) if seat != view["seat"] and n]
    step = STEP
    if view["out"]:
        step *= 1.5
    if others and min(others) <= 4:
        step *= 1.5
    return _Scene(
        counts=counts,
        pool=tuple(count_ranks("zhengfen", unseen(view))),
        others=len(others),
        table=table and table["category"],
        mine=table is not None and table["seat"] == view["seat"],
        trick=sum([POINTS[_VALUE[rank_of(card)]] for card in view["trick"]]),
        step=step,
        worth=worth(counts),
    )


def _different(moves: Sequence[str], scene: _Scene) -> list[tuple[str, Combo]]:
    """Plays that differ in more than suits, and if they are too many those that cost least."""
    found: dict[tuple[str, tuple[int, ...]], tuple[str, Combo]] = {}
    for text in moves:
        if text != "pass":
            combo = read(text, scene.table)
            found.setdefault((combo.kind, combo.ranks), (text, combo))
    plays = list(found.values())
    if len(plays) > MOST:
        plays.sort(key=lambda play: sum([_KEEP[rank] - 3 for rank in play[1].ranks]))
        del plays[MOST:]
    return plays


def read(text: str, table: str | None) -> Combo:
    """A legal play as a combination; `table` is the category that lies there.

    Where jokers leave a choice, the top is that of the natural cards: near enough to judge by.
    """
    names = cards_of(text)
    ranks = tuple(sorted([_VALUE[rank_of(card)] for card in names]))
    natural = Counter([rank for rank in ranks if rank < BLACK])
    top = max(natural, key=lambda rank: (natural[rank], rank)) if natural else RED
    if len(ranks) == 1:
        return Combo("single", ranks[0], 1, ranks)
    if ranks == (FIVE, TEN, KING):
        suited = len({card[1] for card in names}) == 1
        return Combo("510k-suited" if suited else "510k", KING, 1, ranks)
    if ranks == (TWO,) * 4:
        return Combo("2222", TWO, 1, ranks)
    kind = text.partition("=")[2] or table
    if kind is None or kind in SPECIALS:
        kind = _lead_kind(names, ranks, natural)
    if kind == "flush" or kind.endswith("run"):
        top = max(natural)
    return Combo(kind, top, 1, ranks)


def _lead_kind(names: Sequence[str], ranks: tuple[int, ...], natural: Counter[int]) -> str:
    size = len(ranks)
    if size <= 4:
        return ("single", "pair", "triple", "quad")[size - 1]
    most = max(natural.values())
    suits = {card[1] for card in names if card[1] != "j"}
    if most == 1 and len(suits) == 1:
        return "flush"
    if size == 5:
        return "fullhouse"
    for multiple, kind in ((2, "pair-run"), (3, "triple-run"), (4, "quad-run")):
        if most <= multiple and size % multiple == 0 and size // multiple >= 3:
            return kind
    return "flush"


@lru_cache(maxsize=100_000)
def worth(counts: Counts) -> float:
    """The worth of a hand: its plan, with the loose cards that full houses can take along."""
    if not any(counts):
        return 30.0
    divided = plan(ZHENGFEN, counts)
    total = divided.worth
    pairs = [combo.top for combo in divided.combos if combo.kind == "pair"]
    singles = [combo.top for combo in divided.combos if combo.kind == "single"]
    for combo in divided.combos:
        if combo.kind == "triple":
            total += _carried(pairs, singles)
    return total


def _carried(pairs: list[int], singles: list[int]) -> float:
    """What a full house saves with the best two extra cards, which leave the lists."""
    best = 0.0
    taken: tuple[list[int], list[int]] = ([], [])
    if pairs:
        best, taken = -ZHENGFEN.group(pairs[0], 2), (pairs[:1], [])
    low = [rank for rank in singles if rank < BLACK]
    pointed = [rank for rank in low if POINTS[rank]]
    for two in (low[:2] if THREE in low else [], pointed[:2]):
        if len(two) == 2:
            saved = -sum([ZHENGFEN.group(rank, 1) for rank in two])
            if saved > best:
                best, taken = saved, ([], two)
    for rank in taken[0]:
        pairs.remove(rank)
    for rank in taken[1]:
        singles.remove(rank)
    return best


def chance_to_win(scene_pool: Counts, combo: Combo, others: int) -> float:
    """About how likely a play is to stay the highest, from the cards unseen."""
    pool = scene_pool
    if combo.kind == "2222" or not others:
        return 1.0
    if combo.kind in SPECIALS:
        return 0.9
    jokers = pool[BLACK] + pool[RED]
    multiple = {"single": 1, "pair": 2, "triple": 3, "fullhouse": 3, "quad": 4}.get(combo.kind)
    if multiple is None:
        return 0.8
    over: float
    if multiple == 1:
        over = sum(pool[combo.top + 1 :])
        return 0.95 / (1 + 0.3 * over)
    over = sum([count >= multiple for count in pool[combo.top + 1 : BLACK]])
    over += sum([count == multiple - 1 for count in pool[combo.top + 1 : BLACK]]) * jokers / 3
    return 0.95 / (1 + (0.6, 0.35, 0.2)[multiple - 2] * over)


def _judge(scene: _Scene, combo: Combo) -> float:
    left = list(scene.counts)
    for rank in combo.ranks:
        left[rank] -= 1
    if not any(left):
        return 500.0
    own = sum([POINTS[rank] for rank in combo.ranks])
    win = chance_to_win(scene.pool, combo, scene.others)
    score = scene.step * (worth(tuple(left)) - scene.worth)
    if len(combo.ranks) > 1:
        # A joker that stands for another card could have been a trick or a turn elsewhere.
        score -= 3.0 * sum([rank >= BLACK for rank in combo.ranks])
    at_stake = scene.trick + own
    if scene.mine:
        return score + win * own - (1 - win) * at_stake - 1.0
    score += win * at_stake - (1 - win) * own
    return score + 1.0 * win
