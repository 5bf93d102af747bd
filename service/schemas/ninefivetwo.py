"""The states and views of 9-5-2."""

from __future__ import annotations

from service.schemas.common import Fields, GameLimits, common_fields, make_schema
from service.schemas.fields import Integer, UncheckedEnum
from service.schemas.list_fields import List, ObjectField, card_list, entry_list

TRICKS = 16
MAX_PAIRINGS = 100
"""A deal has two pairings at most, but a posted position may have more."""


def position_fields(limits: GameLimits, *, masked: bool) -> Fields:
    """The fields of a state, or of a view, in which cards may be masked."""
    suffix = "View" if masked else ""
    pair: Fields = {
        "giver": limits.seat("The seat that gives: it won too many tricks in the previous deal."),
        "debtor": limits.seat("The seat that won too few; it returns its best card of the suit."),
    }
    owed: Fields = {
        **pair,
        "count": Integer("The number of cards to give in all.", 1),
        "given": card_list(
            "The cards chosen so far, which have left the giver's hand.", None, masked=masked
        ),
    }
    exchanged: Fields = {
        **pair,
        "given": card_list("The cards given, in deck order.", None, masked=masked),
        "returned": card_list(
            "The card returned for each, in the same order.", None, masked=masked
        ),
    }
    return {
        **common_fields(
            limits,
            tricks=limits.by_seat(
                "The tricks that each seat won.", Integer("", 0, TRICKS, enforced=True)
            ),
            targets=limits.by_seat(
                "The tricks that each seat had to win.", Integer("", 2, 9, enforced=True)
            ),
        ),
        "targets": limits.by_seat(
            "The tricks that each seat has to win: 9, 5 and 2 in some order.", Integer("", 2, 9)
        ),
        "trump": UncheckedEnum(
            "The trump suit; null until it is named.", ("c", "d", "h", "s"), nullable=True
        ),
        "talon": card_list(
            "The cards that were not dealt; empty once trump is named.", limits.deck, masked=masked
        ),
        "discards": card_list("The cards that the 9-player discarded.", 4, masked=masked),
        "owed": _pairings(
            "The open pairings of the exchange, the current one first.",
            f"NinefivetwoOwed{suffix}",
            "An open pairing of the exchange.",
            owed,
        ),
        "exchanged": _pairings(
            "The completed pairings of this deal's exchange, oldest first.",
            f"NinefivetwoExchanged{suffix}",
            "A completed pairing of the exchange.",
            exchanged,
        ),
        "trick": entry_list("The cards of the current trick, and who played them.", 3),
        "tricks": limits.by_seat("The tricks that each seat has won.", Integer("", 0, TRICKS)),
    }


def _pairings(description: str, name: str, item_description: str, fields: Fields) -> List:
    schema = make_schema(name, item_description, fields)
    return List(description, ObjectField("", schema), None, MAX_PAIRINGS, enforced=True)
