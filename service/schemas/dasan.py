"""The states and views of Dasan."""

from __future__ import annotations

from service.schemas.common import Fields, GameLimits, climbing_fields, common_fields
from service.schemas.fields import Card, Integer
from service.schemas.list_fields import card_list


def position_fields(limits: GameLimits, *, masked: bool) -> Fields:
    """The fields of a state, or of a view, in which cards may be masked."""
    partner = "The declarer's partner; null if there is none"
    if masked:
        partner += " or, except in the partner's view, until the called card is played"
    return {
        **common_fields(
            limits,
            declarer=limits.seat("The declarer."),
            bid=Integer("The winning bid.", 1, 3, enforced=True),
            out=limits.seat("The seat that went out."),
            called=Card("The called card; null with three players.", nullable=True),
            partner=limits.seat("The declarer's partner, if any.", nullable=True),
        ),
        **climbing_fields(limits),
        "first": limits.seat("The seat that bids first and leads the first trick."),
        "talon": card_list(
            "The cards that were not dealt (none with four players); they stay listed after the"
            " declarer takes them.",
            limits.deck,
            masked=masked,
        ),
        "bid": Integer("The highest bid of the auction so far; 0 if there is none.", 0, 3),
        "declarer": limits.seat("The seat that won the auction; null before.", nullable=True),
        "called": Card("With four players, the card that the declarer called.", nullable=True),
        "partner": limits.seat(f"{partner}.", nullable=True),
    }
