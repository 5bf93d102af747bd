"""Sense in Dou Dizhu: bid on the hand's worth, then play it as declarer or as a team."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bots.cards import VALUE, cards_of, count_ranks, rank_of, unseen
from bots.thinking import shedding
from bots.thinking.hand_plan import DOUDIZHU_3, DOUDIZHU_4, Combo, Counts, Shape, worth

View = Mapping[str, Any]
_VALUE = VALUE["doudizhu"]

BID_LEVELS = (0.42, 0.47, 0.53)
"""The chances of winning as declarer from which a hand bids 1, 2 and 3."""

CHANCE: Mapping[int, tuple[float, float, tuple[float, ...], float]] = {
    3: (0.445, 0.0054, (0.24, 0.167, 0.077, 0.038), 0.12),
    4: (0.78, 0.0057, (0.11, 0.03, 0.0, 0.0), 0.0),
}
"""By number of players: a linear fit of the declarer's wins over self-played deals. Constant;
weights of the hand's worth, of each red joker, black joker, two and ace, and of each bomb."""


def shape_of(players: int) -> Shape:
    """The plays that the game knows at this number of players."""
    return DOUDIZHU_4 if players == 4 else DOUDIZHU_3


def move(view: View, moves: Sequence[str]) -> str:
    """The sensible move."""
    if view["phase"] == "auction":
        return bid(view, moves)
    return rank_moves(view, moves)[0][1]


def bid(view: View, moves: Sequence[str]) -> str:
    """What the hand is worth, if that is more than is bid already; else a pass."""
    counts = tuple(count_ranks("doudizhu", view["hand"]))
    expected = chance(view["players"], counts)
    wanted = f"bid:{sum(expected >= level for level in BID_LEVELS)}"
    return wanted if wanted in moves else "pass"


def chance(players: int, counts: Counts) -> float:
    """About how likely a declarer with this hand, before the talon, is to win."""
    constant, worth_weight, tops, bomb_weight = CHANCE[players]
    shape = shape_of(players)
    chance = constant + worth_weight * worth(shape, counts)
    chance += sum(weight * count for weight, count in zip(tops, reversed(counts), strict=False))
    return chance + bomb_weight * sum(count >= shape.bomb for count in counts)


def rank_moves(view: View, moves: Sequence[str]) -> list[tuple[float, str]]:
    """The moves of the play with their scores, best first."""
    scene = scene_of(view)
    plays = [shedding.Play(text, read(text, scene.table)) for text in moves if text != "pass"]
    ranked = shedding.ranking(scene, plays, may_pass="pass" in moves)
    return [(score, play.move if play else "pass") for score, play in ranked]


def scene_of(view: View) -> shedding.Scene:
    """The view as the strategy sees it."""
    seat = view["seat"]
    players = view["players"]
    declarer = view["declarer"]
    foes = {declarer} if seat != declarer else set(range(players)) - {seat}
    table = view["table"]
    return shedding.Scene(
        shape=shape_of(players),
        seat=seat,
        players=players,
        counts=tuple(count_ranks("doudizhu", view["hand"])),
        pool=tuple(count_ranks("doudizhu", unseen(view))),
        held=view["counts"],
        foes=frozenset(foes),
        table=table and on_table(table),
        owner=table and table["seat"],
    )


def on_table(table: Mapping[str, Any]) -> Combo:
    """The play to beat."""
    ranks = tuple(sorted(_VALUE[rank_of(card)] for card in cards_of(table["move"])))
    return Combo(table["category"], _VALUE[table["rank"]], table["length"], ranks)


def read(text: str, table: Combo | None) -> Combo:
    """A legal play as a combination; one that answers `table` is of its kind unless a bomb."""
    ranks = tuple(sorted(_VALUE[rank_of(card)] for card in cards_of(text)))
    counts = Counter(ranks)
    most = max(counts.values())
    top = max(rank for rank, count in counts.items() if count == most)
    if ranks[0] >= _VALUE["Bj"] and len(counts) == 2:
        return Combo("rocket", ranks[-1], 1, ranks)
    if len(counts) == 1:
        kind = ("solo", "pair", "triple", "bomb")[min(most, 4) - 1]
        return Combo(kind, top, most if most >= 4 else 1, ranks)
    if table is not None:
        if table.kind.startswith("triple") and table.length > 1:
            top = _run_top(counts, 3, table.length)
        return Combo(table.kind, top, table.length, ranks)
    return _lead(ranks, counts, most, top)


def _lead(ranks: tuple[int, ...], counts: Counter[int], most: int, top: int) -> Combo:
    size = len(ranks)
    same = len(set(counts.values())) == 1
    if same and most == 1:
        return Combo("run", top, size, ranks)
    if same and most == 2:
        return Combo("pair-run", top, size // 2, ranks)
    if most == 4 and size in (6, 8) and sum(count == 4 for count in counts.values()) == 1:
        others = [count for count in counts.values() if count != 4]
        if size == 8 and others == [2, 2]:
            return Combo("quad+pairs", top, 1, ranks)
        if size == 6:
            return Combo("quad+solos", top, 1, ranks)
    for each, ending in ((0, ""), (1, "+solo"), (2, "+pair")):
        length, odd = divmod(size, 3 + each)
        if odd:
            continue
        if length == 1:
            return Combo("triple" + ending, top, 1, ranks)
        run_top = _run_top(counts, 3, length)
        if run_top >= 0:
            return Combo("triple-run" + (ending and ending + "s"), run_top, length, ranks)
    return Combo("quad+solos", top, 1, ranks)


def _run_top(counts: Counter[int], multiple: int, length: int) -> int:
    """The top of the highest run of so many ranks within the cards; -1 if there is none."""
    for top in range(_VALUE["A"], length - 2, -1):
        if all(counts[rank] >= multiple for rank in range(top - length + 1, top + 1)):
            return top
    return -1
