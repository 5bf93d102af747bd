"""A deal of three-player Dou Dizhu in the form that other platforms use."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bots.cards import JOKERS, ORDER, View, cards_of, full_deck, rank_of
from bots.lines import NoAnswer

# In the order of the cards' numbers, 0 (3h) to 53 (Rj), on Botzone and in DOUDIZHUVER.
CARDS: Final = (*[rank + suit for rank in ORDER["doudizhu"][:13] for suit in "hdsc"], *JOKERS)
_NUMBERS: Final = {card: number for number, card in enumerate(CARDS)}
_ORDER: Final = {card: place for place, card in enumerate(full_deck("doudizhu", 3))}

Answer = int | Sequence[str]  # a bid (0 to pass), or the cards to play (none to pass)


@dataclass(frozen=True, slots=True)
class Deal:
    """A deal as one seat knows it. Positions are seats counted from the first bidder, 0."""

    number: int  # in its match
    score: int  # the seat's score before the deal
    position: int
    landlord: int | None  # None during the auction
    bid: int  # the highest bid so far, or 0
    hand: tuple[str, ...]
    dealt: tuple[str, ...]  # the hand as it was dealt, without the talon
    talon: tuple[str, ...]  # empty during the auction
    calls: tuple[tuple[int, int], ...]  # the auction as (position, bid), with 0 for a pass
    plays: tuple[tuple[int, tuple[str, ...]], ...]  # (position, cards), with no cards for a pass
    moves: Sequence[str]  # the legal moves

    @classmethod
    def of(cls, view: View, moves: Sequence[str]) -> "Deal":
        """Return the deal that a view of Dou Dizhu shows. `moves` are the legal moves.

        Raises:
            NoAnswer: if other platforms cannot express the position, because there are not three
                players, the talon is hidden after the auction, or the history is incomplete.
        """
        if view["players"] != 3:
            raise NoAnswer("untold", "the program plays at tables of three only")
        first = view["first"]
        turns = [((entry["seat"] - first) % 3, entry["move"]) for entry in view["history"]]
        # A leader may not pass, so the auction ends before the first play.
        begin = next((n for n, (_, move) in enumerate(turns) if move[:5] == "play:"), len(turns))
        calls = tuple((n, 0 if move == "pass" else int(move[4:])) for n, move in turns[:begin])
        plays = tuple((n, tuple(cards_of(move))) for n, move in turns[begin:])
        position = (view["seat"] - first) % 3
        landlord = None if view["declarer"] is None else (view["declarer"] - first) % 3
        if landlord is not None and "??" in view["talon"]:
            raise NoAnswer("untold", 'the program is told the talon; play with options = "botzone"')
        talon = () if landlord is None else tuple(view["talon"])
        own_cards: Counter[str] = Counter(view["hand"])
        own_cards.update(card for seat, cards in plays if seat == position for card in cards)
        if position == landlord:
            own_cards.subtract(talon)
        dealt = tuple(sorted(own_cards.elements(), key=_ORDER.__getitem__))
        if len(dealt) != 17:
            raise NoAnswer("untold", "the history does not have the deal from its beginning")
        return cls(
            view["deal"],
            view["scores"][view["seat"]],
            position,
            landlord,
            view["bid"],
            tuple(view["hand"]),
            dealt,
            talon,
            calls,
            plays,
            moves,
        )

    def move(self, answer: Answer) -> str:
        """Return a program's answer as a legal move. Its suits may differ from those in `moves`.

        Raises:
            NoAnswer: if the move is not legal.
        """
        if isinstance(answer, int):
            move = f"bid:{answer}" if answer else "pass"
            if move in self.moves:
                return move
            raise NoAnswer("illegal", f"the program made the illegal bid {answer}")
        cards = sorted(answer, key=_ORDER.__getitem__)
        if not cards and "pass" in self.moves:
            return "pass"
        ranks = [rank_of(card) for card in cards]
        # The list names the lowest suits, but any suits are legal.
        if not Counter(cards) - Counter(self.hand) and any(
            [rank_of(card) for card in cards_of(move)] == ranks for move in self.moves
        ):
            return "play:" + "".join(cards)
        raise NoAnswer("illegal", f"the program played {' '.join(cards)[:60] or 'nothing'}")


def numbers(cards: Sequence[str]) -> list[int]:
    """Return the numbers of these cards on Botzone and in DOUDIZHUVER, in ascending order."""
    return sorted(_NUMBERS[card] for card in cards)


def named(answer: object) -> list[str]:
    """Return the cards with the numbers in a program's answer, in the same order.

    Raises:
        NoAnswer: if the answer is not a list of card numbers.
    """
    if isinstance(answer, list) and all(type(n) is int and 0 <= n < 54 for n in answer):
        return [CARDS[number] for number in answer]
    raise NoAnswer("unreadable", f"the program wrote no card numbers, but {str(answer)[:60]!r}")
