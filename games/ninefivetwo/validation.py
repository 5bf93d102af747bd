"""Semantic validation of posted positions of 9-5-2 (contract, "State")."""

from collections.abc import Iterator
from typing import Final

from games import validation
from games.deck import HIDDEN, SUITS
from games.errors import IllegalMove
from games.game import JsonDict
from games.move import PLAY, parse
from games.ninefivetwo.trick import DECK

TRICKS: Final = 16
TALON: Final = 4
TARGETS: Final = [2, 5, 9]
SEATS: Final = 3
MAX_PAIRINGS: Final = 100  # open and closed ones together, so that no move exceeds it


def check_position(problems: list[str], data: JsonDict) -> None:
    """Check a position of 9-5-2, and add a sentence to `problems` for each problem."""
    counts = validation.hand_sizes(data)
    for name in ("targets", "tricks"):
        problems += validation.check_length(name, data[name], SEATS)
    problems += _targets(data)
    problems += _phase(data)
    played = _trick(problems, data)
    if len(data["targets"]) == len(data["tricks"]) == len(counts) == SEATS:
        problems += _sizes(data, counts)
    problems += _pairings(data, counts)
    problems += _cards(data, played)


def _targets(data: JsonDict) -> Iterator[str]:
    targets, dealer = data["targets"], data["dealer"]
    if len(targets) != SEATS:
        return
    if sorted(targets) != TARGETS:
        yield f"targets is {targets}, but the targets are 9, 5 and 2, one for each seat."
    if 0 <= dealer < SEATS and targets[dealer] != 9:
        yield f"dealer is {dealer}, but the dealer is the seat with target 9."


def _phase(data: JsonDict) -> Iterator[str]:
    phase, turn, trump, owed = data["phase"], data["turn"], data["trump"], data["owed"]
    if phase in ("exchange", "trump"):
        if trump is not None:
            yield f'trump is "{trump}", but in {phase} it has not been named: it is null.'
    elif trump is None:
        yield f"trump is null, but in {phase} it has been named."
    elif trump not in tuple(SUITS):
        yield f'trump is "{trump}", but the suits are c, d, h and s.'
    if phase == "exchange":
        if not owed:
            yield "owed is empty, but in exchange it has at least one pairing."
        elif turn is not None and turn != owed[0]["giver"]:
            yield f"turn is {turn}, but the first giver in owed is seat {owed[0]['giver']}."
    elif owed:
        yield f"owed must be empty in {phase}."
    if phase in ("trump", "discard") and turn is not None and 0 <= turn < len(data["targets"]):
        target = data["targets"][turn]
        if target != 9:
            yield f"turn is {turn}, whose target is {target}; in {phase} it must be 9."
    if len(data["discards"]) > TALON:
        yield f"discards has {len(data['discards'])} cards, but at most four are discarded."
    elif phase == "discard" and len(data["discards"]) == TALON:
        yield "discards has four cards: the phase discard would be over."


def _trick(problems: list[str], data: JsonDict) -> list[str]:
    """Check the trick, and add a sentence to `problems` for each problem. Return the names of the
    cards in its first three plays, but skip invalid moves."""
    trick, turn = data["trick"], data["turn"]
    if trick and data["phase"] != "play":
        problems.append(f"trick must be empty in {data['phase']}.")
    if len(trick) >= SEATS:
        problems.append(f"trick has {len(trick)} cards, but the third ends it.")
    cards: list[str] = []
    for number, entry in enumerate(trick[:SEATS]):
        where = f"trick[{number}]"
        problems += validation.check_seat(f"{where}.seat", entry["seat"], SEATS)
        if number and entry["seat"] != (trick[0]["seat"] + number) % SEATS:
            problems.append(
                f"{where}.seat is {entry['seat']}, which does not follow the seat before."
            )
        try:
            move = parse(entry["move"], DECK)
        except IllegalMove as error:
            problems.append(f"{where}.move: {error.detail}")
            continue
        if move.kind != PLAY or move.suffix or move.cards.bit_count() != 1 or move.cards < 0:
            problems.append(f"{where}.move is not a play of one card.")
        else:
            cards += DECK.names_of(move.cards)
    if trick and data["phase"] == "play" and turn is not None:
        following = (trick[-1]["seat"] + 1) % SEATS
        if turn != following:
            problems.append(f"turn is {turn}, but seat {following} comes next in the trick.")
    return cards


def _sizes(data: JsonDict, counts: list[int]) -> Iterator[str]:
    """Check for each seat that its cards to play and the tricks won by all seats add up to 16.

    The cards to play are the seat's hand, its card in the trick, and the cards that it has chosen
    to give. The dealer's also include the talon, but not the cards that are yet to be discarded.
    """
    phase, targets = data["phase"], data["targets"]
    if min(data["tricks"]) < 0:
        yield "tricks has a negative number."
        return
    won = sum(data["tricks"])
    most = TRICKS if phase == "over" else TRICKS - 1
    if won > most:
        yield f"tricks adds up to {won}, but in {phase} it is at most {most}."
        return
    for seat in range(SEATS):
        to_play = counts[seat]
        to_play += sum(entry["seat"] == seat for entry in data["trick"])
        to_play += sum(len(pair["given"]) for pair in data["owed"] if pair["giver"] == seat)
        if targets[seat] == 9:
            to_play -= _surplus(data)
        if to_play != TRICKS - won:
            yield (
                f"Seat {seat} has {to_play} cards to play and {won} tricks are won,"
                f" but together that must make {TRICKS}."
            )


def _surplus(data: JsonDict) -> int:
    """Return how many cards the dealer has yet to discard, minus the cards left in the talon."""
    phase, laid = data["phase"], min(TALON, len(data["discards"]))
    if phase == "discard":
        return TALON - laid
    if phase in ("exchange", "trump") and (data["talon"] or laid):
        return TALON - laid - len(data["talon"])
    return 0


def _pairings(data: JsonDict, counts: list[int]) -> Iterator[str]:
    number = len(data["owed"]) + len(data["exchanged"])
    if number > MAX_PAIRINGS:
        yield f"owed and exchanged have {number} pairings together; at most {MAX_PAIRINGS} fit."
    for name in ("owed", "exchanged"):
        for number, pair in enumerate(data[name]):
            where = f"{name}[{number}]"
            yield from validation.check_seat(f"{where}.giver", pair["giver"], SEATS)
            yield from validation.check_seat(f"{where}.debtor", pair["debtor"], SEATS)
            if pair["giver"] == pair["debtor"]:
                yield f"{where}: giver and debtor are the same seat."
    due = data["owed"][:1]
    for number, pair in enumerate(data["owed"]):
        giver, still = pair["giver"], pair["count"] - len(pair["given"])
        if still < 1:
            yield f"owed[{number}] is open, but all its cards have been given."
        if 0 <= giver < len(counts):
            held = counts[giver]
            held += sum(len(first["given"]) for first in due if number and first["giver"] == giver)
            if still > held:
                yield f"owed[{number}] needs more cards than seat {giver} has."
    for number, pair in enumerate(data["exchanged"]):
        for name in ("given", "returned"):
            for problem in validation.check_cards(DECK, _known(pair[name])):
                yield f"exchanged[{number}].{name}: {problem}"


def _cards(data: JsonDict, played: list[str]) -> Iterator[str]:
    # The cards of `exchanged` have since moved to other places.
    cards = [*data["talon"], *data["discards"], *played]
    for pair in data["owed"]:
        cards += pair["given"]
    if "seat" in data:
        yield from validation.check_own_hand(data, DECK, len(cards))
        cards = _known(cards)
    for hand in validation.known_hands(data).values():
        cards += hand
    yield from validation.check_cards(DECK, cards)


def _known(cards: list[str]) -> list[str]:
    return [card for card in cards if card != HIDDEN]
