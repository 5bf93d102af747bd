"""Cards and moves in wire form: enough to read a view without importing the rules."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

View = Mapping[str, Any]
"""A view: what a seat may know of a game, in wire form (docs/views.md)."""

SUITS: Final = "cdhs"
JOKERS: Final = ("Bj", "Rj")

ORDER: Final[Mapping[str, tuple[str, ...]]] = {
    "doudizhu": (*"3456789TJQKA2", *JOKERS),
    "dasan": tuple("456789TJQKA23"),
    "zhengfen": (*"3456789TJQKA2", *JOKERS),
    "ninefivetwo": tuple("23456789TJQKA"),
}
"""The ranks of each game, low to high. The jokers `Bj` and `Rj` are separate ranks."""

VALUE: Final[Mapping[str, Mapping[str, int]]] = {
    game: {rank: value for value, rank in enumerate(ranks)} for game, ranks in ORDER.items()
}
"""The number of each rank by game, from 0 for the lowest."""


def rank_of(card: str) -> str:
    """Return the rank of a card: the first character, or the whole name of a joker."""
    return card if card[1] == "j" else card[0]


def full_deck(game: str, players: int) -> list[str]:
    """Return all cards of a game, low to high. Four-player Dou Dizhu has each card twice."""
    cards = [rank + suit for rank in ORDER[game] for suit in ([""] if rank in JOKERS else SUITS)]
    packs = 2 if game == "doudizhu" and players == 4 else 1
    return [card for card in cards for _ in range(packs)]


def cards_of(move: str) -> list[str]:
    """Return the cards that a move names: none for a pass, a bid or a trump."""
    kind, _, rest = move.partition(":")
    if kind not in ("play", "give", "discard", "call"):
        return []
    rest = rest.partition("=")[0]
    return [rest[i : i + 2] for i in range(0, len(rest), 2)]


def count_ranks(game: str, cards: Iterable[str]) -> list[int]:
    """Return the number of cards of each rank, lowest rank first. `cards` must not include `??`."""
    value = VALUE[game]
    counts = [0] * len(value)
    for card in cards:
        counts[value[rank_of(card)]] += 1
    return counts


def played(view: View) -> Counter[str]:
    """Return how many times each card has been played in this deal, according to the view."""
    if view["game"] == "zhengfen":
        return Counter([card for pile in (view["trick"], *view["taken"]) for card in pile])
    plays = [entry["move"] for entry in view["history"] if entry["move"].startswith("play:")]
    cards = Counter([card for play in plays for card in cards_of(play)])
    # A set-up position may have plays on the table that are not in the history.
    if view["game"] == "ninefivetwo":
        return cards | Counter([cards_of(entry["move"])[0] for entry in view["trick"]])
    if view["table"] is not None and [view["table"]["move"]] != plays[-1:]:
        cards.update(cards_of(view["table"]["move"]))
    return cards


def played_by(view: View, seat: int) -> list[str]:
    """Return the cards that a seat has played in this deal, according to the history."""
    moves = [entry["move"] for entry in view["history"] if entry["seat"] == seat]
    return [card for move in moves if move.startswith("play:") for card in cards_of(move)]


def unseen(view: View) -> list[str]:
    """Return the cards that are neither in the hand of the view's seat nor played, low to high.

    In 9-5-2, the seat's discards and the cards that it sees in an exchange in progress are left out
    too. Cards whose holder the seat knows, such as those of a revealed talon, are included.
    """
    left = Counter(full_deck(view["game"], view["players"]))
    left.subtract(view["hand"])
    left.subtract(played(view))
    if view["game"] == "ninefivetwo":
        left.subtract([card for card in view["discards"] if card != "??"])
        left.subtract([card for pairing in view["owed"] for card in pairing["given"]])
    return [card for card, count in left.items() for _ in range(count) if card != "??"]


def position_hash(view: View) -> int:
    """Return a hash of a view's seat, deal, hand, history and scores, from 0 to 2**64 - 1."""
    position = (view["seat"], view["deal"], view["hand"], view["history"], view["scores"])
    return int.from_bytes(hashlib.sha256(repr(position).encode()).digest()[:8], "big")
