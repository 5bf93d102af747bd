"""What a posted position of 9-5-2 must keep (contract, "State"), each breach as a sentence.

"Tricks won and still to play make 16": still to play is the hand, with the card in the trick and
those chosen for a pairing counted to it; the 9-player's includes the talon until it is taken up,
and not the cards that are still to be laid away. A position that leaves the whole talon out has
nothing to take up and nothing to lay away.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from games import validation
from games.deck import HIDDEN, SUITS, Deck
from games.errors import IllegalMove
from games.game import Game, JsonDict
from games.move import PLAY, parse

TRICKS = 16
TALON = 4
TARGETS = [2, 5, 9]
SEATS = 3


def problems_of(
    game: Game, deck: Deck, data: JsonDict, hands: list[list[str]], counts: list[int]
) -> list[str]:
    """All that is wrong with a state or a view; its types and fields are right already.

    `hands` are the hands that are known, `counts` how many cards each seat holds.
    """
    problems: list[str] = []
    data = validation.judged(problems, game, data, SEATS)
    is_view = "seat" in data
    validation.frame(problems, game, data, ("targets", "tricks", "counts" if is_view else "hands"))
    if is_view:
        validation.own_hand(problems, data, deck)
    _targets(problems, data)
    _phase(problems, data)
    played = _trick(problems, deck, data)
    if len(data["targets"]) == len(data["tricks"]) == len(counts) == SEATS:
        _sizes(problems, data, counts)
    _pairings(problems, deck, data, counts)
    _cards(problems, deck, data, hands, played, is_view)
    return problems


def _targets(problems: list[str], data: JsonDict) -> None:
    targets, dealer = data["targets"], data["dealer"]
    if len(targets) != SEATS:
        return
    if sorted(targets) != TARGETS:
        problems.append(f"targets is {targets}, but one seat each has 9, 5 and 2.")
    if 0 <= dealer < SEATS and targets[dealer] != 9:
        problems.append(f"dealer is {dealer}, but the dealer is who has target 9.")


def _phase(problems: list[str], data: JsonDict) -> None:
    phase, turn, trump, owed = data["phase"], data["turn"], data["trump"], data["owed"]
    if phase in ("exchange", "trump"):
        if trump is not None:
            problems.append(f'trump is "{trump}", but in {phase} it is not named yet: it is null.')
    elif trump is None:
        problems.append(f"trump is null, but in {phase} it is named.")
    elif trump not in tuple(SUITS):
        problems.append(f'trump is "{trump}", but the suits are c, d, h and s.')
    if phase == "exchange":
        if not owed:
            problems.append("owed is empty, but an exchange has a pairing that is due.")
        elif turn is not None and turn != owed[0]["giver"]:
            problems.append(
                f"turn is {turn}, but the giver of the first of owed is seat {owed[0]['giver']}."
            )
    elif owed:
        problems.append(f"owed must be empty in {phase}.")
    if phase in ("trump", "discard") and turn is not None and 0 <= turn < len(data["targets"]):
        target = data["targets"][turn]
        if target != 9:
            problems.append(f"turn is {turn}, whose target is {target}; in {phase} it must be 9.")
    if len(data["discards"]) > TALON:
        problems.append(f"discards has {len(data['discards'])} cards, but at most four are laid.")
    elif phase == "discard" and len(data["discards"]) == TALON:
        problems.append("discards has four cards, so that nothing is left to do in discard.")


def _trick(problems: list[str], deck: Deck, data: JsonDict) -> list[str]:
    """Check the trick; give the cards in it that can be read."""
    trick, turn = data["trick"], data["turn"]
    if trick and data["phase"] != "play":
        problems.append(f"trick must be empty in {data['phase']}.")
    if len(trick) >= SEATS:
        problems.append(f"trick has {len(trick)} cards, but three end it.")
    cards: list[str] = []
    for number, entry in enumerate(trick[:SEATS]):
        where = f"trick[{number}]"
        validation.seat(problems, f"{where}.seat", entry["seat"], SEATS)
        if number and entry["seat"] != (trick[0]["seat"] + number) % SEATS:
            problems.append(f"{where}.seat is {entry['seat']}, not the seat after the one before.")
        try:
            move = parse(entry["move"], deck)
        except IllegalMove as error:
            problems.append(f"{where}.move: {error.detail}")
            continue
        if move.kind != PLAY or move.suffix or move.cards.bit_count() != 1 or move.cards < 0:
            problems.append(f"{where}.move is none, for a trick has plays of one card.")
        else:
            cards += deck.names_of(move.cards)
    if trick and data["phase"] == "play" and turn is not None:
        following = (trick[-1]["seat"] + 1) % SEATS
        if turn != following:
            problems.append(f"turn is {turn}, but seat {following} comes next in the trick.")
    return cards


def _sizes(problems: list[str], data: JsonDict, counts: list[int]) -> None:
    """Tricks won and still to play make 16."""
    phase, targets = data["phase"], data["targets"]
    if min(data["tricks"]) < 0:
        problems.append("tricks has a number below 0.")
        return
    won = sum(data["tricks"])
    left = TRICKS - won
    if left < 0 or (left == 0 and phase != "over"):
        problems.append(f"tricks makes {won}, but in {phase} a deal of {TRICKS} has fewer.")
        return
    for seat in range(SEATS):
        to_play = counts[seat]
        to_play += sum(entry["seat"] == seat for entry in data["trick"])
        to_play += sum(len(pair["given"]) for pair in data["owed"] if pair["giver"] == seat)
        if targets[seat] == 9:
            to_play -= _surplus(data)
        if to_play != left:
            problems.append(
                f"Seat {seat} has {to_play} cards to play and {won} tricks are won,"
                f" but together that must make {TRICKS}."
            )


def _surplus(data: JsonDict) -> int:
    """How many cards of its hand the 9-player will not play, less those it has still to take up."""
    phase, laid = data["phase"], min(TALON, len(data["discards"]))
    if phase == "discard":
        return TALON - laid
    if phase in ("exchange", "trump") and (data["talon"] or laid):
        return TALON - laid - len(data["talon"])
    return 0


def _pairings(problems: list[str], deck: Deck, data: JsonDict, counts: list[int]) -> None:
    """Seats and cards of both lists of pairings; that each open one can be filled."""
    for name in ("owed", "exchanged"):
        for number, pair in enumerate(data[name]):
            where = f"{name}[{number}]"
            validation.seat(problems, f"{where}.giver", pair["giver"], SEATS)
            validation.seat(problems, f"{where}.debtor", pair["debtor"], SEATS)
            if pair["giver"] == pair["debtor"]:
                problems.append(f"{where}: giver and debtor are one seat.")
    due = data["owed"][:1]
    for number, pair in enumerate(data["owed"]):
        giver, still = pair["giver"], pair["count"] - len(pair["given"])
        if still < 1:
            problems.append(f"owed[{number}] is open, but no card is still to be given in it.")
        if 0 <= giver < len(counts):
            held = counts[giver]
            held += sum(len(first["given"]) for first in due if number and first["giver"] == giver)
            if still > held:
                problems.append(f"owed[{number}] asks seat {giver} for more cards than it has.")
    for number, pair in enumerate(data["exchanged"]):
        for name in ("given", "returned"):
            twice: list[str] = []
            validation.fits_deck(twice, deck, validation.known(pair[name]))
            problems += [f"exchanged[{number}].{name}: {problem}" for problem in twice]


def _cards(
    problems: list[str],
    deck: Deck,
    data: JsonDict,
    hands: list[list[str]],
    played: list[str],
    is_view: bool,
) -> None:
    """No card more often than the deck has it, all places together.

    Cards of `exchanged` lie in hands again, or were played; they count where they are now.
    """
    places: list[list[Any]] = [*hands, data["talon"], data["discards"], played]
    places += [pair["given"] for pair in data["owed"]]
    total: Counter[str] = Counter()
    for cards in places:
        total.update(cards)
    if is_view:
        del total[HIDDEN]
        elsewhere = sum(data["counts"]) - len(data["hand"])
        together = elsewhere + sum(len(cards) for cards in places)
        if together > deck.size:
            problems.append(f"All places make {together} cards, but the deck has {deck.size}.")
    validation.fits_deck(problems, deck, total)
