"""Finish a deal of Dasan."""

from __future__ import annotations

from typing import Any

from bots.dasan.strategy import BID_THRESHOLDS, choose_call, parse_play, win_probability
from bots.thinking import shedding_playout
from bots.thinking.bidding import highest_bid
from bots.thinking.hand_plan import DASAN, Combo, ComboRules, Counts
from bots.thinking.shedding import opponents_of

value = shedding_playout.value


class _Dasan:
    def rules(self, state: Any) -> ComboRules:
        return DASAN

    def opponents(self, state: Any) -> list[frozenset[int]]:
        partner = state.partner
        known = self.secret_card(state) is None
        return [
            opponents_of(
                seat, state.players, state.declarer, partner if known or seat == partner else None
            )
            for seat in range(state.players)
        ]

    def table(self, state: Any) -> Combo | None:
        return None if state.table is None else parse_play(state.table.move.text)

    def declare(self, state: Any, counts: Counts) -> str:
        if state.phase == "call":
            return choose_call(state.moves().texts(), counts)
        bid = highest_bid(win_probability(state.players, counts), BID_THRESHOLDS)
        if state.bid == 0:
            return f"bid:{max(bid, 1)}" if state.options["open_higher"] else "bid:1"
        return f"bid:{bid}" if bid > state.bid else "pass"

    def secret_card(self, state: Any) -> str | None:
        if state.partner is None or not state.hands[state.partner] & state.called:
            return None
        card: str = state.deck.text(state.called)
        return card


def finish(state: Any) -> Any:
    """Play on from `state` to the end of the deal."""
    return shedding_playout.finish(_Dasan(), state)
