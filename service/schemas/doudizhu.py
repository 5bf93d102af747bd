"""The states and views of Dou Dizhu."""

from __future__ import annotations

from service.schemas.common import Fields, GameLimits, climbing_fields, common_fields
from service.schemas.fields import Card, Integer
from service.schemas.list_fields import card_list


def position_fields(limits: GameLimits, *, masked: bool) -> Fields:
    """The fields of a state, or of a view, in which cards may be masked."""
    return {
        **common_fields(
            limits,
            declarer=limits.seat("The declarer; null if all passed.", nullable=True),
            bid=Integer("The winning bid; 0 if all passed.", 0, 3, enforced=True),
            doublings=Integer("How many times the score was doubled.", 0, enforced=True),
            out=limits.seat("The seat that went out; null if all passed.", nullable=True),
        ),
        **climbing_fields(limits),
        "first": limits.seat("The seat that bids first."),
        "exposed": Card(
            "The face-up card in the pack: the seat that drew it bids first. Null if unknown.",
            nullable=True,
        ),
        "talon": card_list(
            "The cards that were not dealt; they stay listed after the declarer takes them.",
            limits.deck,
            masked=masked,
        ),
        "bid": Integer("The highest bid of the auction so far; 0 if there is none.", 0, 3),
        "declarer": limits.seat(
            "The seat that won the auction and plays alone; null before.", nullable=True
        ),
        "doublings": Integer("How many times the score has been doubled so far.", 0, 100),
    }
