"""Strategy for Dou Dizhu: bid on the hand's worth, then play as the declarer or as a team."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from bots.cards import VALUE, View, cards_of, rank_of
from bots.thinking import shedding
from bots.thinking.bidding import WinModel, choose_bid
from bots.thinking.hand_plan import DOUDIZHU_3, DOUDIZHU_4, Combo, Counts

_VALUE: Final = VALUE["doudizhu"]

BID_THRESHOLDS: Final = (0.42, 0.47, 0.53)
"""The win probabilities from which a hand bids 1, 2 and 3."""

WIN_MODELS: Final[Mapping[int, WinModel]] = {
    # The top ranks are red joker, black joker, two and ace.
    3: WinModel(DOUDIZHU_3, 0.445, 0.0054, (0.24, 0.167, 0.077, 0.038), bomb_weight=0.12),
    4: WinModel(DOUDIZHU_4, 0.78, 0.0057, (0.11, 0.03, 0.0, 0.0)),
}
"""By number of players."""


def move(view: View, moves: Sequence[str]) -> str:
    """The best move of this strategy."""
    if view["phase"] == "auction":
        return choose_bid(view, moves, win_probability, BID_THRESHOLDS)
    return rank_moves(view, moves)[0][1]


def win_probability(players: int, counts: Counts) -> float:
    """About how likely a declarer is to win, with this hand before the talon."""
    return WIN_MODELS[players].probability(counts)


def rank_moves(view: View, moves: Sequence[str]) -> list[tuple[float, str]]:
    """The moves of the play with their scores, best first."""
    table = view["table"] and on_table(view["table"])
    players = view["players"]
    opponents = shedding.opponents_of(view["seat"], players, view["declarer"])
    plays = [(text, parse_play(text, table)) for text in moves if text != "pass"]
    return shedding.rank_moves(view, WIN_MODELS[players].rules, opponents, table, plays)


def on_table(table: Mapping[str, Any]) -> Combo:
    """The play to beat, from the `table` of a view or a state."""
    ranks = tuple(sorted(_VALUE[rank_of(card)] for card in cards_of(table["move"])))
    return Combo(table["category"], _VALUE[table["rank"]], table["length"], ranks)


def parse_play(text: str, table: Combo | None) -> Combo:
    """Parse a legal play; one that beats `table` is of its kind, unless it is a bomb."""
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
    return _parse_lead(ranks, counts, most, top)


def _parse_lead(ranks: tuple[int, ...], counts: Counter[int], most: int, top: int) -> Combo:
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
    """The top of the highest run of `length` ranks in the cards; -1 if there is none."""
    for top in range(_VALUE["A"], length - 2, -1):
        if all(counts[rank] >= multiple for rank in range(top - length + 1, top + 1)):
            return top
    return -1
