"""Finish a deal of Dasan."""

from __future__ import annotations

from bots.dasan.strategy import WIN_MODELS, choose_call
from bots.thinking import shedding_playout
from bots.thinking.hand_plan import Counts
from bots.thinking.shedding import opponents_of
from games.dasan.state import DasanState

value = shedding_playout.value


class _Dasan(shedding_playout.GameAdapter):
    def opponents(self, state: DasanState) -> list[frozenset[int]]:
        partner = state.partner
        known = not self.secret_card(state)
        return [
            opponents_of(
                seat, state.players, state.declarer, partner if known or seat == partner else None
            )
            for seat in range(state.players)
        ]

    def declare(self, state: DasanState, counts: Counts) -> str:
        if state.phase == "call":
            return choose_call(state.moves().texts(), counts)
        return super().declare(state, counts)

    def secret_card(self, state: DasanState) -> int:
        return 0 if state.partner is None else state.hands[state.partner] & state.called


def finish(state: DasanState) -> shedding_playout.SheddingState:
    """Play on from `state` to the end of the deal."""
    return shedding_playout.finish(_Dasan(WIN_MODELS), state)
