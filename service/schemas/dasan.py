"""The states and views of Dasan."""

from __future__ import annotations

from service.schemas.common import Fields, GameLimits, climbing_fields, common_fields, results_field
from service.schemas.fields import Card, Integer
from service.schemas.list_fields import CardList


def position_fields(limits: GameLimits, *, masked: bool) -> Fields:
    """The fields of a state, or of a view, in which cards may be masked."""
    partner = "Who holds the called card and plays with the declarer; null if nobody does"
    if masked:
        partner += ", or until the card has been played (the partner itself knows)"
    return {
        **common_fields(limits),
        "results": results_field(
            limits,
            {
                "declarer": limits.seat("The declarer."),
                "bid": Integer("The highest bid.", 1, 3, enforced=True),
                "out": limits.seat("The seat that went out."),
                "called": Card("The card called; null with three players.", nullable=True),
                "partner": limits.seat("The declarer's partner, if there was one.", nullable=True),
            },
        ),
        **climbing_fields(limits),
        "first": limits.seat("The seat that bids first and leads the first trick."),
        "talon": CardList(
            "The cards left over by the deal (none with four players); it goes on naming them"
            " after the declarer has taken them up.",
            limits.deck,
            masked=masked,
        ),
        "bid": Integer("The highest bid of the auction so far, and after it; 0 for none.", 0, 3),
        "declarer": limits.seat("Who won the auction; null until it is over.", nullable=True),
        "called": Card(
            "The card by which the declarer of four players names a partner.", nullable=True
        ),
        "partner": limits.seat(f"{partner}.", nullable=True),
    }
