"""Moves: the grammar that all games share, parsed moves, and the history of a deal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from games.deck import HIDDEN, SUITS, Deck
from games.errors import IllegalMove, Reason

_CARD: Final = r"(?:[2-9TJQKA][cdhs]|Bj|Rj)"
_GRAMMAR: Final = re.compile(
    rf"pass|bid:[1-3]|trump:[{SUITS}]|call:{_CARD}"
    rf"|(?:give|discard):(?:{_CARD})+|play:(?:{_CARD})+(?:=flush|=fullhouse)?"
)

PASS: Final = "pass"
BID: Final = "bid"
CALL: Final = "call"
TRUMP: Final = "trump"
GIVE: Final = "give"
DISCARD: Final = "discard"
PLAY: Final = "play"

Shape = tuple[str, int, str | None, int, int | None]
"""A move without its cards: kind, value, category, level and length."""


class Move:
    """A parsed move. Immutable.

    `kind` is `pass` or the word before the colon. `cards` is the hand of the cards that the move
    names: 0 for none, and -1 if the deck does not have them (`text` then has `??` in their place).
    `value` is the bid or the index of the trump suit, or 0.
    `suffix` is `=flush`, `=fullhouse` or "".

    For a validated play, `category` and `length` are as on the wire, and `level` is the rank as an
    index into `deck.ranks`. In Dou Dizhu and Zheng Fen, `value` is then the category as an index
    into the game's `NAMES`.

    A move equals another move, or a string, with the same text.
    """

    __slots__ = ("_text", "cards", "category", "deck", "kind", "length", "level", "suffix", "value")

    def __init__(
        self,
        kind: str,
        deck: Deck,
        cards: int = 0,
        value: int = 0,
        category: str | None = None,
        level: int = 0,
        length: int | None = None,
        suffix: str = "",
    ) -> None:
        self.kind = kind
        self.deck = deck
        self.cards = cards
        self.value = value
        self.category = category
        self.level = level
        self.length = length
        self.suffix = suffix
        self._text: str | None = None

    @property
    def text(self) -> str:
        """The move as a canonical string, with its cards in deck order."""
        if self._text is None:
            self._text = self._write()
        return self._text

    @property
    def rank(self) -> str | None:
        """The name of the rank of a validated play, or None for other moves."""
        return self.deck.ranks[self.level] if self.category else None

    @property
    def shape(self) -> Shape:
        """The move without its cards and suffix (see `Shape`)."""
        return self.kind, self.value, self.category, self.level, self.length

    def _write(self) -> str:
        if self.cards:
            cards = self.deck.text(self.cards) if self.cards > 0 else HIDDEN
            return f"{self.kind}:{cards}{self.suffix}"
        if self.kind == BID:
            return f"bid:{self.value}"
        return "trump:" + SUITS[self.value] if self.kind == TRUMP else self.kind

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Move {self.text}>"

    def __eq__(self, other: object) -> bool:
        return self.text == str(other) if isinstance(other, (Move, str)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)


class History:
    """The moves of a deal: first `posted`, in wire form, then those added by `then`. Immutable."""

    __slots__ = ("_before", "_move", "_played", "_posted", "_seat")

    def __init__(
        self,
        posted: Sequence[dict[str, Any]] = (),
        before: History | None = None,
        seat: int = -1,
        move: Move | None = None,
    ) -> None:
        self._posted = posted
        self._before = before
        self._seat = seat
        self._move = move
        self._played: tuple[int, ...] | None = None

    def then(self, seat: int, move: Move) -> History:
        """Return a history with one more move, in constant time."""
        return History((), self, seat, move)

    def __len__(self) -> int:
        count, history = 0, self
        while history._before is not None:
            count, history = count + 1, history._before
        return count + len(history._posted)

    def to_list(self) -> list[dict[str, Any]]:
        """Return the wire form. The list is new, but the dicts in it must not be changed.

        Copying the posted dicts would make /v1/advance 4 % slower.
        """
        entries: list[dict[str, Any]] = []
        history = self
        while history._before is not None and history._move is not None:
            entries.append({"seat": history._seat, "move": history._move.text})
            history = history._before
        entries.reverse()
        return [*history._posted, *entries]

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return iter([(entry["seat"], entry["move"]) for entry in self.to_list()])

    def played(self, deck: Deck, players: int) -> tuple[int, ...]:
        """Return the cards that each seat has played, and those of its latest move, as hands.

        The first `players` hands have all the cards that each seat has played. As many hands
        follow, with only the cards of each seat's latest move. A seat's second hand is empty if the
        seat has not moved, or if its latest move is not a play with cards of this deck. Posted
        moves that cannot be parsed count as passes, and entries without a valid seat are skipped.
        Results are cached, so `deck` and `players` must be the same in every call.
        """
        newer: list[History] = []
        history = self
        while history._played is None and history._before is not None:
            newer.append(history)
            history = history._before
        hands = history._played
        if hands is None:
            hands = history._played = _played(history._posted, deck, players)
        while newer:
            history = newer.pop()
            hands = history._played = _with_play(hands, deck, players, history._seat, history._move)
        return hands


def _with_play(
    hands: tuple[int, ...], deck: Deck, players: int, seat: int, move: Move | None
) -> tuple[int, ...]:
    after = list(hands)
    cards = max(0, move.cards) if move is not None and move.kind == PLAY else 0
    after[seat] = deck.united(after[seat], cards)
    after[players + seat] = cards
    return tuple(after)


def _played(posted: Sequence[dict[str, Any]], deck: Deck, players: int) -> tuple[int, ...]:
    hands = (0,) * (2 * players)
    for entry in posted:
        if 0 <= entry["seat"] < players:
            try:
                move = parse(entry["move"], deck)
            except IllegalMove:
                move = Move(PASS, deck)
            hands = _with_play(hands, deck, players, entry["seat"], move)
    return hands


def parse(text: str, deck: Deck) -> Move:
    """Parse a move, without regard to the position.

    In the result, `cards` is -1 if the deck does not have the named cards, or not as often.

    Raises:
        IllegalMove: if the text does not match the grammar. The reason is `syntax`.
    """
    if _GRAMMAR.fullmatch(text) is None:
        excerpt = ascii(text if len(text) <= 40 else text[:37] + "...")
        raise IllegalMove(
            Reason.SYNTAX,
            f"{excerpt} is not a move; moves look like pass, bid:2, call:7h, trump:h, give:3h,"
            " discard:4d or play:3s3h.",
        )
    kind, _, rest = text.partition(":")
    if kind == PASS:
        return Move(PASS, deck)
    if kind == BID:
        return Move(BID, deck, value=int(rest))
    if kind == TRUMP:
        return Move(TRUMP, deck, value=SUITS.index(rest))
    cards, equals, category = rest.partition("=")
    return Move(kind, deck, deck.pack(names_in(cards)), suffix=equals + category)


def names_in(cards: str) -> list[str]:
    """Return the names of the cards in a string such as "3s3h"."""
    return [cards[i : i + 2] for i in range(0, len(cards), 2)]
