"""Finish a deal of Dou Dizhu."""

from __future__ import annotations

from bots.doudizhu.strategy import BID_THRESHOLDS, WIN_MODELS, win_probability
from bots.thinking import shedding_playout
from bots.thinking.bidding import highest_bid
from bots.thinking.hand_plan import ComboRules, Counts
from bots.thinking.shedding import opponents_of
from games.doudizhu.state import DoudizhuState

value = shedding_playout.value


class _Doudizhu(shedding_playout.GameAdapter):
    def rules(self, state: DoudizhuState) -> ComboRules:
        return WIN_MODELS[state.players].rules

    def opponents(self, state: DoudizhuState) -> list[frozenset[int]]:
        players = state.players
        return [opponents_of(seat, players, state.declarer) for seat in range(players)]

    def declare(self, state: DoudizhuState, counts: Counts) -> str:
        bid = highest_bid(win_probability(state.players, counts), BID_THRESHOLDS)
        return f"bid:{bid}" if bid > state.bid else "pass"


def finish(state: DoudizhuState) -> shedding_playout.SheddingState:
    """Play on from `state` to the end of the deal."""
    return shedding_playout.finish(_Doudizhu(), state)
