"""The states and views of 9-5-2."""

from __future__ import annotations

from service.schemas.common import Class, Span, common, results, shape, state, view
from service.schemas.fields import Whole, WireField, Word
from service.schemas.list_fields import Cards, Entries, Records

NAME = "ninefivetwo"
TRICKS = 16


def shapes() -> tuple[Class, Class]:
    """The schemas of a state and of a view."""
    span = Span(NAME)
    return state(span, _fields(span, masked=False)), view(span, _fields(span, masked=True))


def _fields(span: Span, *, masked: bool) -> dict[str, WireField]:
    of = "View" if masked else ""
    owed = f"NinefivetwoOwed{of}"
    exchanged = f"NinefivetwoExchanged{of}"
    return {
        **common(span),
        "results": results(
            span,
            {
                "tricks": span.by_seat("The tricks that each seat won.", 0, TRICKS, enforced=True),
                "targets": span.by_seat(
                    "The tricks that each seat had to win.", 2, 9, enforced=True
                ),
            },
        ),
        "targets": span.by_seat("The tricks that each seat has to win: 9, 5 and 2.", 2, 9),
        "trump": Word(
            "The trump suit; null before it is named.", ("c", "d", "h", "s"), nullable=True
        ),
        "talon": Cards(
            "The cards left over by the deal; none once trump is named.", span.deck, masked=masked
        ),
        "discards": Cards("The cards laid away.", 4, masked=masked),
        # A deal has two pairings at most; a position that was set up may have more, and goes back.
        "owed": Records(
            "The pairings of the exchange that are still open; the first one is due.",
            shape(owed, "A pairing of the exchange that is still open.", _owed(span, masked)),
            owed,
        ),
        "exchanged": Records(
            "The pairings that were closed in this deal, in order.",
            shape(exchanged, "A pairing of the exchange that is closed.", _closed(span, masked)),
            exchanged,
        ),
        "trick": Entries("The cards of the current trick, and who played them.", 3),
        "tricks": span.by_seat("The tricks won in this deal.", 0, TRICKS),
    }


def _pair(span: Span) -> dict[str, WireField]:
    return {
        "giver": span.seat("Who had tricks too many, and gives."),
        "debtor": span.seat("Who had too few, and gives back the best of the same suit."),
    }


def _owed(span: Span, masked: bool) -> dict[str, WireField]:
    return {
        **_pair(span),
        "count": Whole("How many cards are given in all.", 1),
        "given": Cards(
            "The cards chosen so far; they have left the giver's hand.", None, masked=masked
        ),
    }


def _closed(span: Span, masked: bool) -> dict[str, WireField]:
    return {
        **_pair(span),
        "given": Cards("The cards given, in deck order.", None, masked=masked),
        "returned": Cards("What came back for each, in that order.", None, masked=masked),
    }
