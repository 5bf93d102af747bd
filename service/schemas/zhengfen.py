"""The states and views of Zheng Fen."""

from __future__ import annotations

from service.schemas.common import Class, Span, climbing, common, results, state, view
from service.schemas.fields import Whole, WireField
from service.schemas.list_fields import Cards, Hands, Wholes

NAME = "zhengfen"


def shapes() -> tuple[Class, Class]:
    """The schemas of a state and of a view."""
    span = Span(NAME)
    return state(span, _fields(span)), view(span, _fields(span))


def _fields(span: Span) -> dict[str, WireField]:
    return {
        **common(span),
        "results": results(
            span,
            {
                "first": span.seat("The First: who went out first."),
                "last": span.seat("The Last: who alone held cards."),
            },
        ),
        **climbing(span),
        "first": span.seat("The seat that leads the first trick."),
        "trick": Cards("The cards in the current trick.", span.deck),
        "taken": Hands("The cards in the tricks that each seat has won.", span.players, span.deck),
        "out": Wholes(
            "The seats that have gone out, in that order.",
            (0, span.last_seat + 1),
            Whole("", 0, span.last_seat),
        ),
    }
