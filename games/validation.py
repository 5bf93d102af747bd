"""Semantic validation of posted states and views: the checks that all games share.

The positions have passed the schema, so fields and types are right. Here and in the modules of the
games, a check returns or yields a sentence for each problem it finds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from games.deck import HIDDEN, Deck

if TYPE_CHECKING:
    from games.game import Game, JsonDict

_RESULT_SEATS: Final = ("declarer", "out", "partner", "first", "last")
RESULT_LISTS: Final = ("scores", "tricks", "targets")


def with_valid_players(problems: list[str], game: Game, data: JsonDict) -> JsonDict:
    """Check the number of players, and return the wire form with a number that the game allows.

    If the number is wrong, add a sentence to `problems`, and return a copy with the allowed number
    that is nearest to the number of hands.
    """
    players: int = data["players"]
    few, many = game.min_players, game.max_players
    if few <= players <= many:
        return data
    problems.append(f"players is {players}, but {game.title} is played by {game.player_range}.")
    return {**data, "players": min(max(len(hand_sizes(data)), few), many)}


def known_hands(data: JsonDict) -> dict[int, list[str]]:
    """Return the hands shown by a state or view in wire form, as lists of names keyed by seat."""
    if "hands" in data:
        return dict(enumerate(data["hands"]))
    return {} if data["seat"] is None else {data["seat"]: data["hand"]}


def hand_sizes(data: JsonDict) -> list[int]:
    """Return the number of cards that each seat holds in a state or view in wire form."""
    return data["counts"] if "counts" in data else [len(hand) for hand in data["hands"]]


def check_seat(name: str, value: int | None, players: int) -> Sequence[str]:
    """Check that `value` is a seat or None. `name` is the name of the field in the sentence."""
    if value is None or 0 <= value < players:
        return ()
    return (f"{name} is {value}, but the seats are 0 to {players - 1}.",)


def entries(values: Sequence[Any]) -> str:
    """Return the length of a list in words, such as "2 entries"."""
    return "1 entry" if len(values) == 1 else f"{len(values)} entries"


def check_length(name: str, values: Sequence[Any], players: int) -> Sequence[str]:
    """Check that `values` has an entry for each seat. `name` is its name in the sentence."""
    if len(values) == players:
        return ()
    return (f"{name} has {entries(values)}, but there are {players} players.",)


def check_common(game: Game, data: JsonDict) -> Iterator[str]:
    """Check the fields that all games share, and that a state does not mask its talon.

    The game must allow the number of players (see `with_valid_players`).
    """
    players: int = data["players"]
    phase: str = data["phase"]
    if phase != "over" and phase not in game.phases:
        known = ", ".join((*game.phases, "over"))
        yield f"phase is {phase}, but the phases of {game.title} are: {known}."
    if (data["turn"] is None) != (phase == "over"):
        yield "turn must be null if, and only if, phase is over."
    for name in ("turn", "dealer", "first", "declarer", "partner", "seat"):
        if name in data:
            yield from check_seat(name, data[name], players)
    for name in ("scores", "counts" if "seat" in data else "hands"):
        yield from check_length(name, data[name], players)
    for number, result in enumerate(data["results"]):
        where = f"results[{number}]"
        for name in _RESULT_SEATS:
            if name in result:
                yield from check_seat(f"{where}.{name}", result[name], players)
        for name in RESULT_LISTS:
            if name in result:
                yield from check_length(f"{where}.{name}", result[name], players)
    if "hands" in data and HIDDEN in data.get("talon", ()):
        yield "talon is masked, but a state must show all cards."
    limit = data["options"]["deals"]
    if phase != "over" and limit is not None and len(data["results"]) >= limit:
        yield f"results has {entries(data['results'])}, but a game of {limit} deals would be over."


def check_own_hand(data: JsonDict, deck: Deck, outside: int) -> Iterator[str]:
    """Check the hand, the counts and the size of the talon in a view.

    `outside` is the number of cards known to be in no hand.
    """
    counts: list[int] = data["counts"]
    hand: list[str] = data["hand"]
    seat: int | None = data["seat"]
    if seat is None:
        if hand:
            yield "hand must be empty in a view without a seat."
    elif 0 <= seat < len(counts) and counts[seat] != len(hand):
        yield f"counts has {counts[seat]} for seat {seat}, but its hand has {len(hand)} cards."
    if HIDDEN in hand:
        yield "hand is masked, but a view must show its own cards."
    if any(count < 0 for count in counts):
        yield "counts has a negative number."
    talon = len(data.get("talon", ()))
    if talon > deck.size:
        yield f"talon has {talon} cards, but the deck has {deck.size}."
    total = sum(counts) + outside
    if total > deck.size:
        yield (
            f"counts and the cards outside hands make {total} cards, but the deck has {deck.size}."
        )


def check_cards(deck: Deck, cards: Sequence[str]) -> Iterator[str]:
    """Check that the deck has all cards, and that no card occurs too often. `??` is not allowed."""
    if deck.fits(deck.hand(cards), len(cards)):
        return  # faster than counting: reading a state takes 15 % less time
    total = Counter(cards)
    for card in deck.in_order(total):
        if card not in deck.number:
            yield f"{card} is not a card of this game."
        elif total[card] > deck.packs:
            yield (
                f"{card} occurs {total[card]} times, but the deck has it"
                f" {'once' if deck.packs == 1 else 'twice'}."
            )
