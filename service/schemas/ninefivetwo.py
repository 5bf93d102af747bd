"""The states and views of 9-5-2."""

from __future__ import annotations

from service.schemas.common import Fields, GameLimits, common_fields, make_schema, results_field
from service.schemas.fields import Integer, UncheckedEnum
from service.schemas.list_fields import CardList, EntryList, List, ObjectField

TRICKS = 16


def position_fields(limits: GameLimits, *, masked: bool) -> Fields:
    """The fields of a state, or of a view, in which cards may be masked."""
    suffix = "View" if masked else ""
    return {
        **common_fields(limits),
        "results": results_field(
            limits,
            {
                "tricks": limits.by_seat(
                    "The tricks that each seat won.", Integer("", 0, TRICKS, enforced=True)
                ),
                "targets": limits.by_seat(
                    "The tricks that each seat had to win.", Integer("", 2, 9, enforced=True)
                ),
            },
        ),
        "targets": limits.by_seat(
            "The tricks that each seat has to win: 9, 5 and 2.", Integer("", 2, 9)
        ),
        "trump": UncheckedEnum(
            "The trump suit; null before it is named.", ("c", "d", "h", "s"), nullable=True
        ),
        "talon": CardList(
            "The cards left over by the deal; none once trump is named.", limits.deck, masked=masked
        ),
        "discards": CardList("The cards laid away.", 4, masked=masked),
        # No limits: a deal has two pairings at most, but a posted position may have more.
        "owed": _pairings(
            "The pairings of the exchange that are still open; the first one is due.",
            f"NinefivetwoOwed{suffix}",
            "A pairing of the exchange that is still open.",
            _owed(limits, masked),
        ),
        "exchanged": _pairings(
            "The pairings that were closed in this deal, in order.",
            f"NinefivetwoExchanged{suffix}",
            "A pairing of the exchange that is closed.",
            _exchanged(limits, masked),
        ),
        "trick": EntryList("The cards of the current trick, and who played them.", 3),
        "tricks": limits.by_seat("The tricks won in this deal.", Integer("", 0, TRICKS)),
    }


def _pairings(description: str, name: str, item_description: str, fields: Fields) -> List:
    schema = make_schema(name, item_description, fields)
    return List(description, ObjectField("", schema, name))


def _pair(limits: GameLimits) -> Fields:
    return {
        "giver": limits.seat("Who had tricks too many, and gives."),
        "debtor": limits.seat("Who had too few, and gives back the best of the same suit."),
    }


def _owed(limits: GameLimits, masked: bool) -> Fields:
    return {
        **_pair(limits),
        "count": Integer("How many cards are given in all.", 1),
        "given": CardList(
            "The cards chosen so far; they have left the giver's hand.", None, masked=masked
        ),
    }


def _exchanged(limits: GameLimits, masked: bool) -> Fields:
    return {
        **_pair(limits),
        "given": CardList("The cards given, in deck order.", None, masked=masked),
        "returned": CardList("What came back for each, in that order.", None, masked=masked),
    }
