"""The states and views of Zheng Fen."""

from __future__ import annotations

from service.schemas.common import Fields, GameLimits, climbing_fields, common_fields
from service.schemas.list_fields import List, card_list


def position_fields(limits: GameLimits, *, masked: bool) -> Fields:
    """The fields of a state and of a view; no card is ever masked."""
    return {
        **common_fields(
            limits,
            first=limits.seat("The First: the seat that went out first."),
            last=limits.seat("The Last: the only seat that did not go out before the end."),
        ),
        **climbing_fields(limits),
        "first": limits.seat("The seat that leads the first trick."),
        "trick": card_list("The cards in the current trick.", limits.deck),
        "taken": limits.hands("The cards in the tricks that each seat has won."),
        "out": List(
            "The seats that have gone out, in order.",
            limits.seat(""),
            0,
            limits.game.max_players,
        ),
    }
