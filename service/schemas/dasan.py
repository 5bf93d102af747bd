"""The states and views of Dasan."""

from __future__ import annotations

from service.schemas.common import Class, Span, climbing, common, results, state, view
from service.schemas.fields import Card, Whole, WireField
from service.schemas.list_fields import Cards

NAME = "dasan"


def shapes() -> tuple[Class, Class]:
    """The schemas of a state and of a view."""
    span = Span(NAME)
    return state(span, _fields(span, masked=False)), view(span, _fields(span, masked=True))


def _fields(span: Span, *, masked: bool) -> dict[str, WireField]:
    partner = "Who holds the called card and plays with the declarer; null if nobody does"
    if masked:
        partner += ", or until the card has been played (the partner itself knows)"
    return {
        **common(span),
        "results": results(
            span,
            {
                "declarer": span.seat("The declarer."),
                "bid": Whole("The highest bid.", 1, 3, enforced=True),
                "out": span.seat("The seat that went out."),
                "called": Card("The card called; null with three players.", nullable=True),
                "partner": span.seat("The declarer's partner, if there was one.", nullable=True),
            },
        ),
        **climbing(span),
        "first": span.seat("The seat that bids first and leads the first trick."),
        "talon": Cards(
            "The cards left over by the deal (none with four players); it goes on naming them"
            " after the declarer has taken them up.",
            span.deck,
            masked=masked,
        ),
        "bid": Whole("The highest bid of the auction so far, and after it; 0 for none.", 0, 3),
        "declarer": span.seat("Who won the auction; null until it is over.", nullable=True),
        "called": Card(
            "The card by which the declarer of four players names a partner.", nullable=True
        ),
        "partner": span.seat(f"{partner}.", nullable=True),
    }
