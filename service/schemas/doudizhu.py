"""The states and views of Dou Dizhu."""

from __future__ import annotations

from service.schemas.common import Fields, GameLimits, climbing_fields, common_fields, results_field
from service.schemas.fields import Card, Integer
from service.schemas.list_fields import CardList


def position_fields(limits: GameLimits, *, masked: bool) -> Fields:
    """The fields of a state, or of a view, in which cards may be masked."""
    return {
        **common_fields(limits),
        "results": results_field(
            limits,
            {
                "declarer": limits.seat("The declarer; null if all passed.", nullable=True),
                "bid": Integer("The highest bid; 0 if all passed.", 0, 3, enforced=True),
                "doublings": Integer("How often the score was doubled.", 0, enforced=True),
                "out": limits.seat("The seat that went out; null if all passed.", nullable=True),
            },
        ),
        **climbing_fields(limits),
        "first": limits.seat("The seat that bids first."),
        "exposed": Card(
            "The card turned up in the deck: who draws it bids first. Null if not known.",
            nullable=True,
        ),
        "talon": CardList(
            "The cards left over by the deal; it goes on naming them after the declarer has"
            " taken them up.",
            limits.deck,
            masked=masked,
        ),
        "bid": Integer("The highest bid of the auction so far, and after it; 0 for none.", 0, 3),
        "declarer": limits.seat(
            "Who won the auction and plays alone; null until it is over.", nullable=True
        ),
        "doublings": Integer("How often bombs and rockets have doubled the score.", 0, 100),
    }
