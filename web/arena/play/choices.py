"""Which cards a person may still choose, from the legal moves alone."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from games import View
from games.errors import IllegalMove
from games.move import Move
from tournament.display.replay import VERBS, cards_of

_TRIED = 40


class Choices:
    """The legal moves of a view, for a person who chooses card by card.

    Suits play no part in some games, and their lists name one play for all suits; whether another
    suit will do is asked of the rules.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._hand: list[str] = view.to_dict()["hand"]
        self._verb = VERBS.get(view.phase, "play")
        moves = list(view.moves())
        held = set(self._hand)
        named = [(move, cards_of(move.text)) for move in moves]
        self._plays = [Counter(cards) for _, cards in named if cards and held.issuperset(cards)]
        self.others: list[Move] = [
            move for move, cards in named if not cards or not held.issuperset(cards)
        ]
        """The moves that are not made of cards of the hand: passes, bids, trumps, calls."""

    def lit(self, chosen: Sequence[str]) -> list[str]:
        """The cards of the hand that some legal play with the chosen cards has besides them."""
        left = Counter(self._hand) - Counter(chosen)
        return sorted(card for card in left if self._goes_with([*chosen, card]))

    def moves(self, chosen: Sequence[str]) -> tuple[list[str], str]:
        """The moves that exactly these cards can be, more than one where they can be read in two
        ways; or a sentence that says why they are none."""
        text = f"{self._verb}:{''.join(chosen)}"
        try:
            return [self._view.check(text).text], ""
        except IllegalMove as error:
            read = [one for one in (f"{text}=flush", f"{text}=fullhouse") if self._legal(one)]
            return read, "" if read else error.detail

    def _goes_with(self, cards: list[str]) -> bool:
        wanted = Counter(cards)
        if any(wanted <= play for play in self._plays):
            return True
        return any(self._legal(f"{self._verb}:{''.join(one)}") for one in self._swapped(cards))

    def _swapped(self, cards: list[str]) -> Iterator[list[str]]:
        """Listed plays with the same ranks, in the suits of these cards."""
        wanted = _ranks(cards)
        fitting = (play for play in self._plays if wanted <= _ranks(play.elements()))
        for _, play in zip(range(_TRIED), fitting, strict=False):
            missing = _ranks(play.elements()) - wanted
            spare = Counter(self._hand) - Counter(cards)
            more = []
            for card in spare.elements():
                if missing[_rank(card)] > 0:
                    missing[_rank(card)] -= 1
                    more.append(card)
            yield cards + more

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
