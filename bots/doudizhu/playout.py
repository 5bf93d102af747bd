"""Finish a deal of Dou Dizhu."""

from __future__ import annotations

from bots.doudizhu.strategy import WIN_MODELS
from bots.thinking import shedding_playout
from bots.thinking.shedding import opponents_of
from games.doudizhu.state import DoudizhuState

value = shedding_playout.value


class _Doudizhu(shedding_playout.GameAdapter):
    def opponents(self, state: DoudizhuState) -> list[frozenset[int]]:
        players = state.players
        return [opponents_of(seat, players, state.declarer) for seat in range(players)]


def finish(state: DoudizhuState) -> shedding_playout.SheddingState:
    """Play on from `state` to the end of the deal."""
    return shedding_playout.finish(_Doudizhu(WIN_MODELS), state)
