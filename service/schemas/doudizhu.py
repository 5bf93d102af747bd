"""The states and views of Dou Dizhu."""

from __future__ import annotations

from service.schemas.common import Class, Span, climbing, common, results, state, view
from service.schemas.fields import Card, Whole, WireField
from service.schemas.list_fields import Cards

NAME = "doudizhu"


def shapes() -> tuple[Class, Class]:
    """The schemas of a state and of a view."""
    span = Span(NAME)
    return state(span, _fields(span, masked=False)), view(span, _fields(span, masked=True))


def _fields(span: Span, *, masked: bool) -> dict[str, WireField]:
    return {
        **common(span),
        "results": results(
            span,
            {
                "declarer": span.seat("The declarer; null if all passed.", nullable=True),
                "bid": Whole("The highest bid; 0 if all passed.", 0, 3, enforced=True),
                "doublings": Whole("How often the score was doubled.", 0, enforced=True),
                "out": span.seat("The seat that went out; null if all passed.", nullable=True),
            },
        ),
        **climbing(span),
        "first": span.seat("The seat that bids first."),
        "exposed": Card(
            "The card turned up in the deck: who draws it bids first. Null if not known.",
            nullable=True,
        ),
        "talon": Cards(
            "The cards left over by the deal; it goes on naming them after the declarer has"
            " taken them up.",
            span.deck,
            masked=masked,
        ),
        "bid": Whole("The highest bid of the auction so far, and after it; 0 for none.", 0, 3),
        "declarer": span.seat(
            "Who won the auction and plays alone; null until it is over.", nullable=True
        ),
        "doublings": Whole("How often bombs and rockets have doubled the score.", 0, 100),
    }
