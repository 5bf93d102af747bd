"""Finish a deal of Dou Dizhu."""

from __future__ import annotations

from typing import Any

from bots.doudizhu.strategy import BID_LEVELS, chance, on_table, shape_of
from bots.thinking import shedding_playout
from bots.thinking.hand_plan import Combo, Counts, Shape


class _Rules:
    def shape(self, state: Any) -> Shape:
        return shape_of(state.players)

    def foes(self, state: Any) -> list[frozenset[int]]:
        everybody = frozenset(range(state.players))
        declarer = frozenset({state.declarer})
        return [everybody - declarer if seat == state.declarer else declarer for seat in everybody]

    def table(self, state: Any) -> Combo | None:
        return None if state.table is None else on_table(state.table.to_dict())

    def declare(self, state: Any, counts: Counts) -> str:
        expected = chance(state.players, counts)
        worthy = sum([expected >= level for level in BID_LEVELS])
        return f"bid:{worthy}" if worthy > state.bid else "pass"

    def shown(self, state: Any) -> str | None:
        return None


_RULES = _Rules()


def finish(state: Any) -> Any:
    """The state at the end, everybody playing from `state` on."""
    return shedding_playout.finish(_RULES, state)


def value(before: Any, end: Any, seat: int) -> float:
    """What the deal was worth to a seat: the root of it, lest a few deals decide alone."""
    return shedding_playout.tempered(end.scores[seat] - before.scores[seat])
