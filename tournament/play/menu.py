"""The legal moves as a person meets them: numbered, grouped, searched, or typed in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from games.errors import IllegalMove
from games.game import View
from games.move import Move

_CARDS = re.compile(r"(?:[2-9tjqka][cdhs]|[br]j)+", re.IGNORECASE)
_RANKS = re.compile(r"(?:[2-9tjqka]|10)+", re.IGNORECASE)
_VERBS = {"give": "give", "exchange": "give", "discard": "discard", "call": "call"}
"""What bare cards mean in a phase; `play` where it is not named."""


@dataclass(frozen=True, slots=True)
class Group:
    """Moves of one kind: a category of plays, or bids, calls and so on; by number from 1."""

    title: str
    moves: Mapping[int, Move]


@dataclass(frozen=True, slots=True)
class Listing:
    """Moves to be shown because they were asked for."""

    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with what was typed, as a sentence."""

    text: str


def card_names(text: str) -> list[str]:
    """The cards written in a text, in the contract's letters: `10S` and `ts` are `Ts`."""
    plain = text.replace("10", "T")
    pairs = [plain[i : i + 2] for i in range(0, len(plain), 2)]
    return [pair[0].upper() + pair[1].lower() for pair in pairs]


def cards_of(move: str) -> list[str]:
    """The cards that a move string names, `??` among them; none for a bid or a trump."""
    kind, _, named = move.partition(":")
    if kind in ("bid", "trump"):
        return []
    listed = named.partition("=")[0]
    return [listed[i : i + 2] for i in range(0, len(listed), 2)]


class Menu:
    """The legal moves of the seat whose view this is.

    Numbers count the contract's list from 1 and do not change while the position stands.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._moves = view.moves()

    def __len__(self) -> int:
        return len(self._moves)

    def all(self) -> Listing:
        """Every move."""
        return self._listing(enumerate(self._moves, start=1))

    def _listing(self, numbered: enumerate[Move] | list[tuple[int, Move]]) -> Listing:
        groups: dict[str, dict[int, Move]] = {}
        for number, move in numbered:
            groups.setdefault(move.category or move.kind, {})[number] = move
        return Listing(tuple(Group(title, moves) for title, moves in groups.items()))

    def search(self, words: str) -> Listing | Problem:
        """The moves that every word fits: a category's beginning, a card, or some ranks.

        `run` finds runs, `3s` what has the three of spades, `33` what has two threes.
        """
        found = list(enumerate(self._moves, start=1))
        for word in words.split():
            found = [(number, move) for number, move in found if _fits(move, word)]
        if not found:
            return Problem(f"No legal move fits {words!r}.")
        return self._listing(found)

    def choose(self, text: str) -> Move | Problem:
        """The move that was typed: its number, its string, or its cards alone."""
        typed = "".join(text.split())
        if typed.isascii() and typed.isdigit():
            return self._by_number(typed)
        if _CARDS.fullmatch(typed.replace("10", "T")):
            verb = _VERBS.get(self._view.phase, "play")
            typed = f"{verb}:{''.join(card_names(typed))}"
        try:
            return self._view.check(typed)
        except IllegalMove as error:
            return Problem(error.detail)

    def _by_number(self, digits: str) -> Move | Problem:
        count = len(self._moves)
        # More digits than any number on the list: int() of them is not needed.
        if len(digits) <= 9 and 1 <= int(digits) <= count:
            return self._moves[int(digits) - 1]
        return Problem(f"The moves are numbered 1 to {count}; cards are typed with their suits.")


def _fits(move: Move, word: str) -> bool:
    """Whether one word of a search fits a move."""
    if (move.category or move.kind).startswith(word.lower()):
        return True
    if move.kind in ("bid", "trump"):
        return move.text.endswith(":" + word.lower())
    held = cards_of(move.text)
    if _CARDS.fullmatch(word.replace("10", "T")):
        return Counter(card_names(word)) <= Counter(held)
    if _RANKS.fullmatch(word):
        wanted = Counter(word.upper().replace("10", "T"))
        return wanted <= Counter(card[0] for card in held if not card.endswith("j"))
    return False
