"""Worlds that a view allows: the unseen cards dealt to the places where they may be.

Counts are kept, and so is all that is certain: who drew the exposed card, who holds a revealed
talon, that a called card is not with its caller, which suits a seat has shown to lack, which
cards went from hand to hand in an exchange.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bots.cards import SUITS, VALUE, cards_of, unseen

View = Mapping[str, Any]
Place = int
"""A seat, or one of the places below."""

TALON: Place = -1
DISCARDS: Place = -2
NOWHERE: Place = -3
"""Cards that a set-up position has left out."""

_TRIES = 30


@dataclass(frozen=True)
class Knowledge:
    """What a view says about the unseen cards.

    `room` is how many go to each place; `allowed` the places of the cards that may not be just
    anywhere, as (card, places); `free` all other cards.
    """

    room: Mapping[Place, int]
    allowed: Sequence[tuple[str, frozenset[Place]]]
    free: Sequence[str]


def know(view: View) -> Knowledge:
    """Read a view. What contradicts itself (in a set-up position) is not held against it."""
    hidden = unseen(view)
    room = _room(view, len(hidden))
    limits = _LIMITS[view["game"]](view, set(hidden))
    everywhere = frozenset(place for place, count in room.items() if count)
    allowed: list[tuple[str, frozenset[Place]]] = []
    free: list[str] = []
    bound: set[str] = set()
    for card in hidden:
        limit = limits.get(card)
        places = everywhere if limit is None else limit & everywhere
        # A limit speaks of one card of a name; the second one of two packs may be anywhere.
        if not places or places == everywhere or (card in bound):
            free.append(card)
        else:
            bound.add(card)
            allowed.append((card, places))
    allowed.sort(key=lambda entry: len(entry[1]))
    return Knowledge(room, allowed, free)


def _room(view: View, hidden: int) -> dict[Place, int]:
    room = {
        seat: count for seat, count in enumerate(view["counts"]) if seat != view["seat"] and count
    }
    if view["phase"] in ("auction", "exchange", "trump"):
        room[TALON] = len(view["talon"])
    if view["game"] == "ninefivetwo":
        room[DISCARDS] = sum(card == "??" for card in view["discards"])
    room[NOWHERE] = max(0, hidden - sum(room.values()))
    return room


def sample(view: View, knowledge: Knowledge, chance: random.Random) -> dict[str, Any]:
    """A whole state, in its wire form, that the seat cannot tell from the true one.

    It is cut down to this deal: the game ends with it.
    """
    piles = _deal(knowledge, chance)
    hands = [piles.get(seat, []) for seat in range(view["players"])]
    hands[view["seat"]] = list(view["hand"])
    state = {key: value for key, value in view.items() if key not in ("seat", "hand", "counts")}
    state["seed"] = "world"
    state["hands"] = hands
    state["options"] = {**view["options"], "deals": len(view["results"]) + 1}
    if "redeals" in state["options"]:
        state["options"]["redeals"] = 0
    if not view["options"].get("spring"):
        state["history"] = []
    if "talon" in state:
        state["talon"] = piles.get(TALON, [])
    if view["game"] == "dasan" and view["called"] is not None:
        holders = [seat for seat, hand in enumerate(hands) if view["called"] in hand]
        state["partner"] = holders[0] if holders else view["partner"]
    if view["game"] == "ninefivetwo":
        state["exchanged"] = []
        known = [card for card in view["discards"] if card != "??"]
        state["discards"] = known + piles.get(DISCARDS, [])
    return state


def _deal(knowledge: Knowledge, chance: random.Random) -> dict[Place, list[str]]:
    for _ in range(_TRIES):
        dealt = _try(knowledge, chance)
        if dealt is not None:
            return dealt
    # Nearly everything is forced: find any way, or leave out what cannot be satisfied.
    return _matched(knowledge, chance)


def _try(knowledge: Knowledge, chance: random.Random) -> dict[Place, list[str]] | None:
    left = dict(knowledge.room)
    piles: dict[Place, list[str]] = defaultdict(list)
    for card, places in knowledge.allowed:
        order = sorted(places)
        weights = [left[place] for place in order]
        if not any(weights):
            return None
        place = chance.choices(order, weights)[0]
        piles[place].append(card)
        left[place] -= 1
    free = list(knowledge.free)
    chance.shuffle(free)
    for place, count in left.items():
        if count:
            piles[place] += free[:count]
            del free[:count]
    return piles


def _matched(knowledge: Knowledge, chance: random.Random) -> dict[Place, list[str]]:
    """A perfect matching of cards to slots, by augmenting paths in a random order."""
    slots = [place for place, count in knowledge.room.items() for _ in range(count)]
    everywhere = frozenset(slots)
    cards = [*knowledge.allowed, *((card, everywhere) for card in knowledge.free)]
    chance.shuffle(cards)
    holder: dict[int, int] = {}

    def place_card(index: int, seen: set[int]) -> bool:
        order = list(range(len(slots)))
        chance.shuffle(order)
        for slot in order:
            if slots[slot] not in cards[index][1] or slot in seen:
                continue
            seen.add(slot)
            if slot not in holder or place_card(holder[slot], seen):
                holder[slot] = index
                return True
        return False

    loose = [index for index in range(len(cards)) if not place_card(index, set())]
    for slot in range(len(slots)):
        if slot not in holder and loose:
            holder[slot] = loose.pop()
    piles: dict[Place, list[str]] = defaultdict(list)
    for slot, index in holder.items():
        piles[slots[slot]].append(cards[index][0])
    return piles


Limits = dict[str, frozenset[Place]]


def _doudizhu(view: View, hidden: set[str]) -> Limits:
    limits: Limits = {}
    first, exposed, declarer = view["first"], view["exposed"], view["declarer"]
    mine = _plays_of(view, first)
    if exposed in hidden and exposed not in mine and first != view["seat"]:
        limits[exposed] = frozenset({first})
    if declarer is not None and declarer != view["seat"]:
        laid = _plays_of(view, declarer)
        for card in view["talon"]:
            if card in hidden and card not in laid:
                limits[card] = frozenset({declarer})
    return limits


def _dasan(view: View, hidden: set[str]) -> Limits:
    limits: Limits = {}
    declarer, first, called = view["declarer"], view["first"], view["called"]
    others = frozenset(range(view["players"])) - {view["seat"]}
    # Every heart below the lowest that `first` is known to have had was in the talon or is its.
    own = [*view["hand"], *_plays_of(view, view["seat"])]
    for rank in VALUE["dasan"]:
        heart = rank + "h"
        if first == view["seat"]:
            if heart in own:
                break
            if heart in hidden:
                limits[heart] = frozenset({TALON} if declarer is None else {declarer})
        else:
            if heart in hidden:
                limits[heart] = frozenset({first})
            break
    if declarer is not None and declarer != view["seat"]:
        for card in view["talon"]:
            if card in hidden:
                limits[card] = frozenset({declarer})
    if called in hidden and view["partner"] != view["seat"]:
        limits[called] = others - {declarer}
    return limits


def _zhengfen(view: View, hidden: set[str]) -> Limits:
    if view["deal"] == 1 and "3h" in hidden:
        return {"3h": frozenset({view["first"]})}
    return {}


def _ninefivetwo(view: View, hidden: set[str]) -> Limits:
    limits: Limits = {}
    seats = frozenset(range(view["players"])) - {view["seat"]}
    face_down = frozenset({TALON, DISCARDS, NOWHERE})
    for suit, lacking in _voids(view).items():
        if lacking:
            places = (seats - lacking) | face_down
            limits.update({card: places for card in hidden if card[1] == suit})
    # Only what the last pairing moved has certainly stayed where it went.
    for pairing in view["exchanged"][-1:] if not view["owed"] else []:
        for cards, holder in (
            (pairing["given"], pairing["debtor"]),
            (pairing["returned"], pairing["giver"]),
        ):
            # Who has 9 to make may have laid the card away.
            may = frozenset({holder, DISCARDS} if holder == view["dealer"] else {holder})
            limits.update({card: may for card in cards if card in hidden})
    return limits


def _voids(view: View) -> dict[str, set[int]]:
    """For each suit the seats that have not followed it."""
    plays = [
        (entry["seat"], cards_of(entry["move"])[0])
        for entry in view["history"]
        if entry["move"].startswith("play:")
    ]
    found: dict[str, set[int]] = {suit: set() for suit in SUITS}
    for start in range(0, len(plays), 3):
        led = plays[start][1][1]
        found[led] |= {seat for seat, card in plays[start + 1 : start + 3] if card[1] != led}
    return found


def _plays_of(view: View, seat: int) -> list[str]:
    return [
        card
        for entry in view["history"]
        if entry["seat"] == seat and entry["move"].startswith("play:")
        for card in cards_of(entry["move"])
    ]


_LIMITS = {
    "doudizhu": _doudizhu,
    "dasan": _dasan,
    "zhengfen": _zhengfen,
    "ninefivetwo": _ninefivetwo,
}
