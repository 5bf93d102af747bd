"""The choices of a user in a position: cards that can be chosen, and moves without cards."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from games import View
from games.errors import IllegalMove, Reason
from tournament.display.replay import VERBS, cards_of
from tournament.language import N_, gettext, ngettext

_TRIED = 40  # plays that are tried in other suits
_REASONS: Final = {
    Reason.SYNTAX: N_("This is no move."),
    Reason.GAME_OVER: N_("The game is over."),
    Reason.NOT_YOUR_TURN: N_("It is not your turn."),
    Reason.WRONG_PHASE: N_("This move does not belong to this part of the game."),
    Reason.MUST_BID: N_("The first player must bid."),
    Reason.BID_TOO_LOW: N_("A bid must be higher than the highest bid so far."),
    Reason.MUST_LEAD: N_("You lead, so you must play a card."),
    Reason.NOT_CALLABLE: N_("This card cannot be called."),
    Reason.NOT_HELD: N_("You do not hold these cards."),
    Reason.WRONG_NUMBER: N_("This is not the right number of cards."),
    Reason.NOT_A_COMBINATION: N_("These cards are not a combination of this game."),
    Reason.WRONG_CATEGORY: N_("Play the same kind of combination, with as many cards, or pass."),
    Reason.NOT_HIGHER: N_("These cards are not higher than those on the table."),
    Reason.AMBIGUOUS: N_("These cards can be read in two ways."),
    Reason.MUST_FOLLOW: N_("You must follow suit."),
}
# What to do if no legal move uses cards of the hand, by phase.
_TASKS: Final = {
    "trump": N_("Choose the trumps."),
    "call": N_("Call a card: whoever holds it is your partner."),
    "play": N_("You cannot beat these cards: pass."),
}


def explain(error: IllegalMove) -> str:
    """Return a sentence in the reader's language that says why a move is illegal. Only the English
    sentence has the details of the move."""
    message = _REASONS[error.reason]
    translated = gettext(message)
    return error.detail if translated == message else translated


class Choices:
    """The legal moves in a view of the seat to move, for a user who chooses card by card.

    In games in which suits do not matter, the list of legal moves has each play in only one choice
    of suits. So this class asks the rules whether the same play is legal in other suits.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._hand = Counter[str](view.to_dict()["hand"])
        self._verb = VERBS.get(view.phase, "play")
        self._owed = view.cards_owed(self._hand.total())
        moves = [(move, Counter(cards_of(move.text))) for move in view.moves()]
        self._plays = [cards for _, cards in moves if cards and cards <= self._hand]
        # Passes, bids, trumps and calls, which do not use cards of the hand.
        self.others = [move for move, cards in moves if not cards or not cards <= self._hand]

    @property
    def verb(self) -> str:
        """The English verb for legal moves with cards of the hand, or "" if there are none."""
        return self._verb if self._plays else ""

    @property
    def task(self) -> str:
        """A sentence in the reader's language about what the user has to do now."""
        if self.verb == "give":
            return ngettext(
                "Give %(num)d card: tap it, then Give.",
                "Give %(num)d cards: tap them, then Give.",
                self._owed,
            )
        if self.verb == "discard":
            return ngettext(
                "Lay %(num)d card away: tap it, then Discard.",
                "Lay %(num)d cards away: tap them, then Discard.",
                self._owed,
            )
        can_pass = any(move.text == "pass" for move in self.others)
        if self._view.phase == "auction":
            return gettext("Bid, or pass.") if can_pass else gettext("You must bid.")
        if not self._plays:
            return gettext(_TASKS[self._view.phase])
        if can_pass:
            return gettext("Play higher cards of the same kind, or pass.")
        facts = self._view.game.facts(self._view.to_dict())
        if any(fact.on_table for fact in facts):  # and passing is not allowed
            return gettext("Follow suit if you can: tap a card, then Play.")
        return gettext("You lead: tap cards, then Play.")

    def lit(self, chosen: Sequence[str]) -> list[str]:
        """Return the cards of the hand that can be added to `chosen`, sorted, without repeats."""
        left = self._hand - Counter(chosen)
        return sorted(card for card in left if self._goes_with([*chosen, card]))

    def moves(self, chosen: Sequence[str]) -> tuple[list[str], str]:
        """Return the legal moves that use exactly the chosen cards, and "". There are two moves if
        the cards can be read in two ways. If there are none, return [] and the reason."""
        text = f"{self._verb}:{''.join(chosen)}"
        try:
            return [self._view.check(text).text], ""
        except IllegalMove as error:
            readings = [*filter(self._legal, (f"{text}=flush", f"{text}=fullhouse"))]
            return readings, "" if readings else explain(error)

    def _goes_with(self, cards: list[str]) -> bool:
        if self._owed:
            return len(cards) <= self._owed
        wanted = Counter(cards)
        if any(wanted <= play for play in self._plays):
            return True
        return any(self._legal(f"{self._verb}:{''.join(play)}") for play in self._swapped(cards))

    def _swapped(self, cards: list[str]) -> Iterator[list[str]]:
        """Yield, for up to 40 legal plays that have the ranks of these cards, a play with these
        cards and the ranks of the legal play. The yielded plays may be illegal."""
        wanted = _ranks(cards)
        fitting = (play for play in self._plays if wanted <= _ranks(play.elements()))
        for play in islice(fitting, _TRIED):
            missing = _ranks(play.elements()) - wanted
            added = []
            for card in (self._hand - Counter(cards)).elements():
                if missing[_rank(card)] > 0:
                    missing[_rank(card)] -= 1
                    added.append(card)
            yield cards + added

    def _legal(self, text: str) -> bool:
        try:
            self._view.check(text)
        except IllegalMove:
            return False
        return True


def _rank(card: str) -> str:
    return card if card.endswith("j") else card[0]


def _ranks(cards: Iterable[str]) -> Counter[str]:
    return Counter(map(_rank, cards))
