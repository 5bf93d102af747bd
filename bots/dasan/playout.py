"""Finish a deal of Dasan."""

from __future__ import annotations

from typing import Any

from bots.cards import VALUE
from bots.dasan.strategy import BID_LEVELS, chance, read
from bots.thinking import shedding_playout
from bots.thinking.hand_plan import DASAN, Combo, Counts, Shape


class _Rules:
    def shape(self, state: Any) -> Shape:
        return DASAN

    def foes(self, state: Any) -> list[frozenset[int]]:
        everybody = frozenset(range(state.players))
        declarer, partner = state.declarer, state.partner
        open_card = partner is None or not state.hands[partner] & state.called
        team = frozenset({declarer, partner}) & everybody
        found = []
        for seat in everybody:
            if seat == partner or (seat == declarer and open_card):
                found.append(everybody - team)
            elif seat == declarer:
                found.append(everybody - {declarer})
            else:
                found.append(team if open_card else frozenset({declarer}))
        return found

    def table(self, state: Any) -> Combo | None:
        return None if state.table is None else read(state.table.move.text)

    def declare(self, state: Any, counts: Counts) -> str:
        if state.phase == "call":
            texts: list[str] = state.moves().texts()
            return max(texts, key=lambda text: counts[VALUE["dasan"][text[5]]])
        expected = chance(state.players, counts)
        worthy = sum([expected >= level for level in BID_LEVELS])
        if state.bid == 0:
            return "bid:1"
        return f"bid:{worthy}" if worthy > state.bid else "pass"

    def shown(self, state: Any) -> str | None:
        if state.partner is None or not state.hands[state.partner] & state.called:
            return None
        text: str = state.deck.text(state.called)
        return text


_RULES = _Rules()


def finish(state: Any) -> Any:
    """The state at the end, everybody playing from `state` on."""
    return shedding_playout.finish(_RULES, state)


def value(before: Any, end: Any, seat: int) -> float:
    """What the deal was worth to a seat: the root of it, lest a few deals decide alone."""
    return shedding_playout.tempered(end.scores[seat] - before.scores[seat])
