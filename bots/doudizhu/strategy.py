"""Strategy for Dou Dizhu: bid on the hand's worth, then play as the declarer or as a team."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from bots.cards import View, count_ranks
from bots.thinking import shedding
from bots.thinking.bidding import WinModel, choose_bid
from bots.thinking.hand_plan import DOUDIZHU_3, DOUDIZHU_4

_THRESHOLDS: Final[tuple[float, ...]] = (0.42, 0.47, 0.53)
"""The win probabilities from which a hand bids 1, 2 and 3."""

WIN_MODELS: Final[Mapping[int, WinModel]] = {
    # The top ranks are red joker, black joker, two and ace.
    3: WinModel(
        DOUDIZHU_3, _THRESHOLDS, 0.445, 0.0054, (0.24, 0.167, 0.077, 0.038), bomb_weight=0.12
    ),
    4: WinModel(DOUDIZHU_4, _THRESHOLDS, 0.78, 0.0057, (0.11, 0.03, 0.0, 0.0)),
}
"""By number of players."""


def move(view: View, moves: Sequence[str]) -> str:
    """The best move of this strategy."""
    if view["phase"] == "auction":
        counts = tuple(count_ranks("doudizhu", view["hand"]))
        return choose_bid(WIN_MODELS[view["players"]], counts, moves)
    return rank_moves(view, moves)[0][1]


def rank_moves(view: View, moves: Sequence[str]) -> list[tuple[float, str]]:
    """The moves of the play with their scores, best first."""
    players = view["players"]
    opponents = shedding.opponents_of(view["seat"], players, view["declarer"])
    return shedding.rank_moves(view, moves, WIN_MODELS[players].rules, opponents)
