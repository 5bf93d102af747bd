"""A menu of the legal moves for a person: numbered, grouped, searched, chosen by typing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from games import View
from games.errors import IllegalMove
from games.move import Move
from web.ui.moves import VERBS, cards_of

_CARDS = re.compile(r"(?:[2-9tjqka][cdhs]|[br]j)+", re.IGNORECASE)
_RANKS = re.compile(r"(?:[2-9tjqka]|10)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MoveGroup:
    """Moves of one category of plays or of one kind, as bids, by their numbers in the menu."""

    title: str
    moves: Mapping[int, Move]


class InputError(ValueError):
    """What was typed is no move or finds none; the message is a sentence for the person."""


def card_names(text: str) -> list[str]:
    """The cards in a text, spelled as in the contract: `10S` and `ts` are `Ts`."""
    plain = text.replace("10", "T")
    pairs = [plain[i : i + 2] for i in range(0, len(plain), 2)]
    return [pair[0].upper() + pair[1].lower() for pair in pairs]


class Menu:
    """The legal moves of the seat whose view this is.

    Moves are numbered from 1 in the order of the contract's list.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._moves = view.moves()

    def __len__(self) -> int:
        return len(self._moves)

    def all(self) -> tuple[MoveGroup, ...]:
        """Every move."""
        return _grouped(enumerate(self._moves, start=1))

    def search(self, words: str) -> tuple[MoveGroup, ...]:
        """The moves that fit every word; InputError if there is none.

        A word is the beginning of a category (`run`), a card (`3s`), or ranks (`33`: two threes).
        """
        found = list(enumerate(self._moves, start=1))
        for word in words.split():
            found = [(number, move) for number, move in found if _fits(move, word)]
        if not found:
            raise InputError(f"No legal move fits {words!r}.")
        return _grouped(found)

    def choose(self, text: str) -> Move:
        """The move with this number, string or cards; InputError."""
        typed = "".join(text.split())
        if typed.isascii() and typed.isdigit():
            return self._by_number(typed)
        if _CARDS.fullmatch(typed.replace("10", "T")):
            verb = VERBS.get(self._view.phase, "play")
            typed = f"{verb}:{''.join(card_names(typed))}"
        try:
            return self._view.check(typed)
        except IllegalMove as error:
            raise InputError(error.detail) from error

    def _by_number(self, digits: str) -> Move:
        count = len(self._moves)
        # int() refuses very long strings of digits, and no list has as many moves.
        if len(digits) <= 9 and 1 <= int(digits) <= count:
            return self._moves[int(digits) - 1]
        raise InputError(f"The moves are numbered 1 to {count}; type cards with their suits.")


def _grouped(numbered: Iterable[tuple[int, Move]]) -> tuple[MoveGroup, ...]:
    groups: dict[str, dict[int, Move]] = {}
    for number, move in numbered:
        groups.setdefault(move.category or move.kind, {})[number] = move
    return tuple(MoveGroup(title, moves) for title, moves in groups.items())


def _fits(move: Move, word: str) -> bool:
    """Whether one word of a search fits a move."""
    if (move.category or move.kind).startswith(word.lower()):
        return True
    if move.kind in ("bid", "trump"):
        return move.text.endswith(":" + word.lower())
    names = cards_of(move.text)
    if _CARDS.fullmatch(word.replace("10", "T")):
        return Counter(card_names(word)) <= Counter(names)
    if _RANKS.fullmatch(word):
        wanted = Counter(word.upper().replace("10", "T"))
        return wanted <= Counter(card[0] for card in names if not card.endswith("j"))
    return False
