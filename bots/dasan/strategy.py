"""Strategy for Dasan: as in Dou Dizhu, without bombs, and with a partner who is secret at first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from bots.cards import VALUE, View, cards_of, count_ranks, rank_of
from bots.thinking import shedding
from bots.thinking.bidding import WinModel, choose_bid
from bots.thinking.hand_plan import DASAN

_VALUE: Final = VALUE["dasan"]

_THRESHOLDS: Final[tuple[float, ...]] = (0.0, 0.47, 0.53)
"""The win probabilities from which a hand bids 1 (to open), 2 and 3."""

WIN_MODELS: Final[Mapping[int, WinModel]] = {
    # The top ranks are 3, 2, ace and king.
    3: WinModel(DASAN, _THRESHOLDS, 0.46, 0.0079, (0.138, 0.076, 0.031, 0.016)),
    4: WinModel(DASAN, _THRESHOLDS, 0.73, 0.0082, (0.112, 0.053, 0.0, 0.0)),
}
"""By number of players."""


def move(view: View, moves: Sequence[str]) -> str:
    """The best move of this strategy."""
    if view["phase"] == "auction":
        counts = tuple(count_ranks("dasan", view["hand"]))
        return choose_bid(WIN_MODELS[view["players"]], counts, moves)
    if view["phase"] == "call":
        return choose_call(moves, count_ranks("dasan", view["hand"]))
    return rank_moves(view, moves)[0][1]


def choose_call(moves: Sequence[str], counts: Sequence[int]) -> str:
    """Call the lowest card of the rank the hand has most of.

    Its holder has few cards of that rank, so it plays the card soon and becomes known.
    """
    return max(moves, key=lambda text: counts[_VALUE[rank_of(cards_of(text)[0])]])


def rank_moves(view: View, moves: Sequence[str]) -> list[tuple[float, str]]:
    """The moves of the play with their scores, best first."""
    opponents = shedding.opponents_of(
        view["seat"], view["players"], view["declarer"], view["partner"]
    )
    return shedding.rank_moves(view, moves, DASAN, opponents)
