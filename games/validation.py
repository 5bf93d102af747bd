"""Clauses that every posted state and view must keep (contract, "State").

Each function adds sentences to a list of problems. Shapes (types, fields) are right already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from games.deck import HIDDEN, Deck

if TYPE_CHECKING:
    from games.game import Game, JsonDict

_RESULT_SEATS = ("declarer", "out", "partner", "first", "last")
_RESULT_LISTS = ("scores", "tricks", "targets")


def judged(problems: list[str], game: Game, data: JsonDict, by_seat: int) -> JsonDict:
    """The wire form with a number of players that the game has.

    Another number is a problem; the rest is then judged by how many seats the list by seat of that
    length shows, so that everything else that is wrong is named too.
    """
    players: int = data["players"]
    few, many = game.min_players, game.max_players
    if few <= players <= many:
        return data
    span = f"{few}" if few == many else f"{few} to {many}"
    problems.append(f"players is {players}, but {game.title} is played by {span}.")
    return {**data, "players": min(max(by_seat, few), many)}


def seat(problems: list[str], name: str, value: int | None, players: int) -> bool:
    """A seat, or null. False, and a problem, where it is another number."""
    if value is None or 0 <= value < players:
        return True
    problems.append(f"{name} is {value}, but the seats are 0 to {players - 1}.")
    return False


def entries(values: Sequence[Any]) -> str:
    """How long a list is, in words."""
    return "1 entry" if len(values) == 1 else f"{len(values)} entries"


def by_seat(problems: list[str], name: str, values: Sequence[Any], players: int) -> bool:
    """A list with one entry for each seat."""
    if len(values) == players:
        return True
    problems.append(f"{name} has {entries(values)}, but there are {players} players.")
    return False


def frame(problems: list[str], game: Game, data: JsonDict, lists: Iterable[str]) -> None:
    """What all games share: phase, turn, seats, lists by seat, results."""
    players: int = data["players"]
    phase: str = data["phase"]
    if phase != "over" and phase not in game.phases:
        known = ", ".join((*game.phases, "over"))
        problems.append(f"phase is {phase}, but {game.title} has only these: {known}.")
    if (data["turn"] is None) != (phase == "over"):
        problems.append("turn must be null exactly when phase is over.")
    for name in ("turn", "dealer", "first", "declarer", "partner", "seat"):
        if name in data:
            seat(problems, name, data[name], players)
    for name in ("scores", *lists):
        by_seat(problems, name, data[name], players)
    for number, result in enumerate(data["results"]):
        where = f"results[{number}]"
        for name in _RESULT_SEATS:
            if name in result:
                seat(problems, f"{where}.{name}", result[name], players)
        for name in _RESULT_LISTS:
            if name in result:
                by_seat(problems, f"{where}.{name}", result[name], players)
    if "hands" in data and HIDDEN in data.get("talon", ()):
        problems.append("talon is masked, but a state shows all cards.")
    limit = data["options"]["deals"]
    if phase != "over" and limit is not None and len(data["results"]) >= limit:
        problems.append(
            f"results has {entries(data['results'])}, but a game of {limit} deals is over then."
        )


def own_hand(problems: list[str], data: JsonDict, deck: Deck, beside: int = 0) -> None:
    """A view's counts: its own is the length of its hand, all together fit the deck.

    `beside` is how many cards lie where they are in nobody's hand.
    """
    counts: list[int] = data["counts"]
    hand: list[str] = data["hand"]
    if 0 <= data["seat"] < len(counts) and counts[data["seat"]] != len(hand):
        problems.append(
            f"counts says that seat {data['seat']} holds {counts[data['seat']]} cards,"
            f" but its hand has {len(hand)}."
        )
    if HIDDEN in hand:
        problems.append("hand is masked, but a view shows its own cards.")
    if any(count < 0 for count in counts):
        problems.append("counts has a number below 0.")
    talon = len(data.get("talon", ()))
    if talon > deck.size:
        problems.append(f"talon has {talon} cards, but the deck has {deck.size}.")
    total = sum(counts) + beside
    if total > deck.size:
        problems.append(
            f"counts and what lies open make {total} cards, but the deck has {deck.size}."
        )


def known(cards: Iterable[str]) -> Counter[str]:
    """How often each card is named; masked cards are nobody's."""
    counter = Counter(cards)
    del counter[HIDDEN]
    return counter


def fit_deck(problems: list[str], deck: Deck, cards: list[str]) -> None:
    """Like `fits_deck`, for a list; quick where all is well."""
    distinct = set(cards)
    if len(distinct) < len(cards) or not distinct <= deck.number.keys():
        fits_deck(problems, deck, Counter(cards))


def fits_deck(problems: list[str], deck: Deck, total: Counter[str]) -> None:
    """No card more often than the deck has it, all places together."""
    for card in deck.in_order(total):
        if card not in deck.number:
            problems.append(f"{card} is no card of this game.")
        elif total[card] > deck.packs:
            problems.append(
                f"{card} is there {total[card]} times, but the deck has it"
                f" {'once' if deck.packs == 1 else 'twice'}."
            )
